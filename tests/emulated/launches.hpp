#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "emulated/count/counters.hpp"
#include "emulated/findings/finding.hpp"
#include "emulated/run/device.hpp"
#include "emulated/run/launch.hpp"
#include "emulated/trace/trace.hpp"

/// What a test asks of a launch: the one place that knows how the device hands it out.
namespace __emulated {

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
  std::vector<LaunchResult> results;
  finding_of([&] { run_with_results(body, results, TracedBlock{launch, block}); });
  for (const LaunchResult& each : results)
    if (each.trace != nullptr) return *each.trace;
  return {};
}

/// What each launch of `body` counted and found.
inline std::vector<LaunchResult> launches_of(const std::function<void()>& body) {
  std::vector<LaunchResult> results;
  run_with_results(body, results);
  return results;
}

/// What the only launch of `body`, or the last one, counts. A finding fails the test.
Counters counters_of(const auto& body) { return launches_of(body).back().counters; }

}  // namespace __emulated
