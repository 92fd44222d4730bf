#pragma once

#include <string>
#include <vector>

#include "harness/result.hpp"
#include "harness/terminal.hpp"

namespace reduction {

/// Returns the tables of the steps' results, given in step order: one of theirs, and one beside the documented figures. In
/// Markdown, or on a terminal aligned.
std::string ladder_text(const std::vector<Result>& results, const Terminal& terminal);

}  // namespace reduction
