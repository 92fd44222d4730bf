#pragma once
/// \file
/// The results of the steps side by side, as Markdown: what ladder_table prints, and pages show. A result is an object
/// under the keys of the steps' --json files; all functions throw nlohmann's exceptions where it is none.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace reduction {

using Results = std::vector<nlohmann::ordered_json>;

/// Returns the table of results that were timed: how many times faster each GPU's step is than the one before and than
/// 01, and its share of CUB's bandwidth if peer_cub is among them. The CPU and libraries are no step's "previous".
std::string timed_ladder(const Results& results);

/// Returns the table of results that the emulated device counted.
std::string counted_ladder(const Results& results);

/// Returns the same steps on the cards of the published tables, beside this one if it was timed.
std::string published_ladder(const Results& results);

/// Says whether every step has one result, all of them of one type and number of elements: no sweep.
bool same_configuration(const Results& results);

/// Says whether a result is right, and those of the step's other ways to sum, such as the tree beside 00's running sum.
bool is_verified(const nlohmann::ordered_json& result);

}  // namespace reduction
