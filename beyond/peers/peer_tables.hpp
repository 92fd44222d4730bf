#pragma once
/// \file
/// The table of steps and peers that compare.sh prints and the pages show.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace reduction {

/// The element types of the results, each once, in the order in which they come first.
/// `results` are objects under the keys of the steps' --json files.
std::vector<std::string> types_of(const std::vector<nlohmann::ordered_json>& results);

/// The results of one element type as a Markdown table: a row per program, a column per number of elements, in each cell
/// GB/s and the share of peer_cub's. Throws nlohmann's exception where a result lacks a key.
std::string peer_table(const std::vector<nlohmann::ordered_json>& results, const std::string& type);

}  // namespace reduction
