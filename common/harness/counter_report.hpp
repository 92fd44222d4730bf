#pragma once

#include <optional>
#include <string>

#include "harness/result.hpp"
#include "harness/terminal.hpp"

namespace reduction {

/// Returns the counters that tell steps apart as a table: in total, per block and per element; beside them, where there
/// is one, those of another step and the factor between the two. On a terminal, the table beside another step has those
/// that differ.
std::string counter_report(const Result& run, const std::optional<Result>& other, const Terminal& terminal);

}  // namespace reduction
