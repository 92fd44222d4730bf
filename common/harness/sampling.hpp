#pragma once

#include <chrono>
#include <cstddef>

#include "harness/device.hpp"

namespace reduction {

/// A summary of repeated measurements, in their unit.
struct Summary {
  double median = 0;
  double p5 = 0;
  double p95 = 0;
  double minimum = 0;

  /// Returns (p95 - p5) / median: how far apart nine samples in ten lie.
  double spread() const { return median > 0 ? (p95 - p5) / median : 0; }
};

/// Summarises samples in any order. Throws std::invalid_argument if there are none.
Summary summarise(std::vector<double> samples);

/// Tells the wall-clock time since it was made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double ms() const { return seconds() * 1e3; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Calls take_sample(), which returns the time of one sample in ms, `fixed` times, or, if no number is given, until at least
/// ten have a (p95 - p5) / median of 0.5 % or less, or 2 s of wall-clock time have gone by. Returns all of them.
/// \param agree  makes of the seconds that went by those that ranks which sample together agree on
std::vector<double> take_samples(
    const std::optional<std::size_t>& fixed, const std::function<double()>& take_sample,
    const std::function<double(double)>& agree = [](double seconds) { return seconds; });

/// Calls take_sample(), and once more where the device did not wait until all was queued: the host may have been busy.
/// Throws SampleNotQueued if it does so twice in a row.
double take_queued_sample(const std::function<double()>& take_sample);

/// Throws MeasurementError for a bandwidth above the device's peak.
void require_possible(double gbps, const DeviceInfo& device);

}  // namespace reduction
