#include "harness/sampling.hpp"

#include <fmt/format.h>

#include <bit>

#include "harness/exit_code.hpp"
#include "harness/statistics.hpp"

namespace reduction {

std::vector<double> take_samples(const SamplingPlan& plan, const std::function<double()>& take_sample,
                                 const std::function<double()>& seconds_spent) {
  std::vector<double> ms;
  while (!enough_samples(plan, ms, seconds_spent()))
    ms.push_back(take_sample());
  return ms;
}

std::vector<double> take_samples(const SamplingPlan& plan, const std::function<double()>& take_sample) {
  const Stopwatch began;
  return take_samples(plan, take_sample, [&] { return began.seconds(); });
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

bool enough_samples(const SamplingPlan& plan, const std::vector<double>& ms, double seconds_spent) {
  constexpr std::size_t fewest = 10;
  constexpr double close_enough = 0.005;
  constexpr double longest_seconds = 2.0;
  if (plan.fixed) return ms.size() >= *plan.fixed;
  if (ms.empty()) return false;
  if (seconds_spent >= longest_seconds) return true;
  // Sorting thousands of samples after each of them would take longer than the samples: look when their number doubles.
  const bool look = ms.size() % fewest == 0 && std::has_single_bit(ms.size() / fewest);
  return look && summarise(ms).spread() <= close_enough;
}

}  // namespace reduction
