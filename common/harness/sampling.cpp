#include "harness/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "harness/exit_code.hpp"

namespace reduction {

namespace {

/// Returns the q-quantile (0 <= q <= 1) of ascending samples, interpolated linearly between neighbours
/// (definition 7 of Hyndman and Fan, "Sample quantiles in statistical packages", 1996).
double quantile(const std::vector<double>& ascending, double q) {
  const double position = q * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return std::lerp(ascending[below], ascending[above], position - std::floor(position));
}

/// Says whether the samples so far (in ms) are enough.
bool enough_samples(const std::optional<std::size_t>& fixed, const std::vector<double>& ms,
                    double seconds_spent) {
  constexpr std::size_t fewest = 10;
  constexpr double close_enough = 0.005;
  constexpr double longest_seconds = 2.0;
  if (fixed) return ms.size() >= *fixed;
  if (ms.empty()) return false;
  if (seconds_spent >= longest_seconds) return true;
  // Sorting thousands of samples after each of them would take longer than the samples: look when their number doubles.
  const bool look = ms.size() % fewest == 0 && std::has_single_bit(ms.size() / fewest);
  return look && summarise(ms).spread() <= close_enough;
}

}  // namespace

Summary summarise(std::vector<double> samples) {
  if (samples.empty()) throw std::invalid_argument("no samples to summarise");
  std::sort(samples.begin(), samples.end());
  return {.median = quantile(samples, 0.5),
          .p5 = quantile(samples, 0.05),
          .p95 = quantile(samples, 0.95),
          .minimum = samples.front()};
}

std::vector<double> take_samples(const std::optional<std::size_t>& fixed,
                                 const std::function<double()>& take_sample,
                                 const std::function<double(double)>& agree) {
  const Stopwatch began;
  std::vector<double> ms;
  while (!enough_samples(fixed, ms, agree(began.seconds())))
    ms.push_back(take_sample());
  return ms;
}

double take_queued_sample(const std::function<double()>& take_sample) {
  try {
    return take_sample();
  } catch (const SampleNotQueued&) {
    return take_sample();
  }
}

void require_possible(double gbps, const DeviceInfo& device) {
  if (!device.peak_gbps || gbps <= *device.peak_gbps) return;
  throw MeasurementError(
      fmt::format("{:.1f} GB/s is more than the {:.1f} GB/s that this device can move: the time is wrong",
                  gbps, *device.peak_gbps));
}

}  // namespace reduction
