#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "device/emulated/counters.hpp"

namespace reduction {

/// What a run of a step counted.
struct CountedRun {
  std::string step;
  std::uint64_t elements = 0;
  emulated::Counters counters;
};

/// Reads a run back from its --json file. Throws UsageError when it is no such file, or one without counters.
CountedRun read_counted_run(const std::string& json_file);

/// The counters that tell steps apart as a Markdown table: in total, for a block and for an element; beside them, where
/// there is one, those of another step and the factor between the two.
std::string counter_table(const CountedRun& run, const std::optional<CountedRun>& other);

}  // namespace reduction
