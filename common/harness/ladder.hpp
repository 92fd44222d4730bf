#pragma once
/// \file
/// The results of the steps side by side: what ladder_table prints, and pages show.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/terminal.hpp"

namespace reduction {

/// What ladder_table makes of the steps' --json files.
struct Ladder {
  std::string tables;     ///< of the steps, and of what others have published
  std::string json;       ///< all results in one list, as text
  bool verified = false;  ///< every result is right
};

/// Reads the --json files of the steps, in step order, and makes tables of them: in Markdown, or for a terminal.
/// Throws UsageError for a file that is none.
Ladder read_ladder(const std::vector<std::string>& files, const Terminal& terminal);

/// Returns the table of results that were timed, in Markdown: how many times faster each GPU's step is than the one before and than
/// 01, and its share of CUB's bandwidth if peer_cub is among them. The CPU and libraries are no step's "previous".
/// `results` have the keys of the steps' --json files; throws nlohmann's exceptions if they do not.
std::string timed_ladder(const std::vector<nlohmann::ordered_json>& results);

}  // namespace reduction
