#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace reduction {

/// How many samples to take: exactly `fixed`, or until they agree.
struct SamplingPlan {
  std::optional<std::size_t> fixed;
};

/// Whether the samples so far (in ms) are enough: `fixed` of them, or, where the plan names no number, at least ten with
/// (p95 - p5) / median of 0.5 % or less, or all that 2 s of wall-clock time gave.
bool enough_samples(const SamplingPlan& plan, const std::vector<double>& ms, double seconds_spent);

}  // namespace reduction
