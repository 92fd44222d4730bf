#include "harness/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/measurement_error.hpp"
#include "harness/report.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

/// Bytes of the partial sums that pass k leaves; none where there is no such pass.
std::size_t partial_bytes(const std::vector<Pass>& passes, std::size_t k, ElementType type) {
  return k < passes.size() ? passes[k].blocks * size_of(type) : 0;
}

/// The most additions that an element may go through. A step that chooses its own launch does not say how it adds. It is held to threads that
/// fill the device, 1024 to a multiprocessor, and trees that take no more than 128 additions on top. Atomics add one
/// after the other, n of them at worst, in an order of chance. A bound for that would excuse any sum of 2^24 floats;
/// they are held to a tree of all elements, as step 00's running sum is.
std::uint64_t most_additions(const StepKernel& kernel, const std::vector<Pass>& passes, unsigned block,
                             const DeviceInfo& device) {
  if (kernel.traits.adds_atomically) return tree_depth(passes.front().elements);
  if (!kernel.traits.chooses_launch) return addition_depth(kernel, passes, block);
  return passes.front().elements / (std::size_t{1024} * std::max(1u, device.sms)) + 128;
}

void require_possible(const Result& result) {
  // The L2, which still has the input then, may well be faster than the memory.
  if (result.timing->flush == Flush::none) return;
  if (result.percent_of_peak().value_or(0) <= 100) return;
  throw MeasurementError(
      fmt::format("{:.1f} GB/s is more than the {:.1f} GB/s that this device can move: the time is wrong",
                  *result.gbps(), *result.device.peak_gbps));
}

}  // namespace

void require_memory(const StepKernel& kernel, const Device& device, const Configuration& configuration) {
  const auto passes = plan_passes(kernel, configuration.elements, configuration.block);
  const std::size_t needed = configuration.elements * size_of(configuration.type) +
                             partial_bytes(passes, 0, configuration.type) +
                             partial_bytes(passes, 1, configuration.type) + device.timing_bytes();
  if (needed <= device.available_bytes()) return;
  throw out_of_memory(configuration, needed, device);
}

Result measure(const Step& step, const StepKernel& kernel, Device& device, const Configuration& configuration,
               const Options& options) {
  require_memory(kernel, device, configuration);
  Result result;
  result.step = step.name;
  result.title = step.title;
  result.device = device.info();
  result.type = configuration.type;
  result.input = {options.data, options.seed, configuration.elements};
  const unsigned block = configuration.block;
  const std::vector<Pass> passes = plan_passes(kernel, configuration.elements, block);
  if (!kernel.traits.chooses_launch) {
    result.block = block;
    result.passes = passes;
  }

  const std::size_t partial = partial_bytes(passes, 0, result.type);
  const std::size_t next_partial = partial_bytes(passes, 1, result.type);
  const DeviceBuffer in_buffer(device, configuration.elements * size_of(result.type));
  const DeviceBuffer partial_buffer(device, partial);
  const DeviceBuffer next_partial_buffer(device, next_partial);
  const PassBuffers buffers{in_buffer.data(), partial_buffer.data(), next_partial_buffer.data()};
  device.fill(in_buffer.data(), result.input, result.type, 0, result.input.n);

  const Reference reference = reference_sum(result.input, result.type);
  const std::uint64_t depth = most_additions(kernel, passes, block, device.info());
  const void* out = nullptr;
  const auto launches = [&] { out = launch_passes(kernel, passes, block, buffers); };
  const auto poison = [&] {
    device.poison(partial_buffer.data(), partial);
    device.poison(next_partial_buffer.data(), next_partial);
  };
  const auto check = [&] {
    result.value.type = result.type;
    device.download(result.value.bytes.data(), out, size_of(result.type));
    result.verdict = verify(result.value, reference, depth);
  };

  result.expected = to_value(reference);
  poison();
  const auto began = std::chrono::steady_clock::now();
  out = launch_passes(kernel, passes, block, buffers, [&](std::size_t) {
    if (const auto counters = device.last_launch_counters()) result.pass_counters.push_back(*counters);
  });
  check();
  if (result.device.kind == DeviceKind::cuda) {
    result.first_run_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
  }
  if (!result.verdict.verified) return result;

  TimingMethod timing = options.timing;
  // Held until all is queued, the device would never come to what the launch waits for.
  if (kernel.traits.waits_for_result) timing.queued = false;
  const std::vector<double> ms = device.time(poison, launches, {options.samples}, timing);
  if (ms.empty()) return result;
  check();
  result.samples = ms.size();
  result.ms = summarise(ms);
  result.timing = timing;
  require_possible(result);
  return result;
}

}  // namespace reduction
