#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "harness/device.hpp"

namespace reduction {

/// How many samples to take: exactly `fixed`, or until they agree.
struct SamplingPlan {
  std::optional<std::size_t> fixed;
};

/// Tells the wall-clock time since it was made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double ms() const { return seconds() * 1e3; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Takes samples until there are enough, and returns them, in ms. take_sample() returns the time of one, in ms;
/// seconds_spent() says how long all of it has taken: ranks that sample together have to agree on it.
std::vector<double> take_samples(const SamplingPlan& plan, const std::function<double()>& take_sample,
                                 const std::function<double()>& seconds_spent);

/// Does the same by this program's own clock.
std::vector<double> take_samples(const SamplingPlan& plan, const std::function<double()>& take_sample);

/// Calls take_sample(), and once more where the device did not wait until all was queued: the host may have been busy.
/// Throws SampleNotQueued if it does so twice in a row.
double take_queued_sample(const std::function<double()>& take_sample);

/// Throws MeasurementError for a bandwidth above the device's peak.
void require_possible(double gbps, const DeviceInfo& device);

/// Says whether the samples so far (in ms) are enough: `fixed` of them, or, if the plan names no number, at least ten
/// with (p95 - p5) / median of 0.5 % or less, or all that 2 s of wall-clock time gave.
bool enough_samples(const SamplingPlan& plan, const std::vector<double>& ms, double seconds_spent);

}  // namespace reduction
