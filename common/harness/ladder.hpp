#pragma once
/// \file
/// The results of the steps side by side: what ladder_table prints, and pages show.

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

}  // namespace reduction
