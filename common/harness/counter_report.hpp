#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/emulated/counters.hpp"
#include "harness/element_type.hpp"
#include "harness/terminal.hpp"

namespace reduction {

/// What a run of a step counted.
struct CountedRun {
  std::string step;
  ElementType type = ElementType::int32;
  unsigned block = 0;
  std::uint64_t elements = 0;
  emulated::Counters counters;
};

/// Returns the counters that tell steps apart as a table: in total, per block and per element; beside them, where there
/// is one, those of another step and the factor between the two. On a terminal, the counters that another step has
/// otherwise come first, per block, and bars show the wavefronts of both.
std::string counter_report(const CountedRun& run, const std::optional<CountedRun>& other,
                           const Terminal& terminal);

}  // namespace reduction
