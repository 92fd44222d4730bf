#pragma once

#include <cstddef>
#include <string>

#include "emulated/count/counters.hpp"
#include "emulated/findings/finding.hpp"
#include "emulated/run/device.hpp"
#include "emulated/trace/trace.hpp"

/// What a test asks of a launch: the one place that knows how the device hands it out.
namespace __emulated {

/// What the only launch of `body`, or the last one, counts. A finding fails the test.
Counters counters_of(const auto& body) {
  const LaunchRecord record;
  body();
  return record.launches().back();
}

/// The findings' texts of the launches of `body`, or "".
std::string finding_of(const auto& body) {
  try {
    body();
  } catch (const KernelFinding& finding) {
    return finding.what();
  }
  return "";
}

/// What a block of the first launch of `body`, or of a later one, does, whatever becomes of it; empty if there is none.
BlockTrace trace_of(const auto& body, std::size_t block = 0, std::size_t launch = 1) {
  const TraceRecord record{launch, block};
  finding_of(body);
  return record.trace().value_or(BlockTrace{});
}

/// Every launch of the test program.
inline const LaunchRecord all_launches;

/// What the last launch that ended without a finding did.
inline Counters last_launch_counters() { return all_launches.launches().back(); }

}  // namespace __emulated
