#include "harness/measure.hpp"

#include <fmt/format.h>

#include "harness/sampling.hpp"
#include "harness/verification.hpp"

namespace reduction {

namespace {

Result describe(const Step& step, const Device& device, const ReductionPlan& plan, const Options& options) {
  Result result;
  result.step = step.name;
  result.title = step.title;
  result.device = device.info();
  result.type = plan.configuration.type;
  result.value.type = result.type;
  result.input = {options.data, options.seed, plan.configuration.elements};
  if (!plan.kernel.traits.chooses_launch) {
    result.block = plan.configuration.block;
    result.passes = plan.passes;
  }
  return result;
}

/// One reduction on a device: its buffers, and everything that is done with them. They are allocated once; the reduction
/// can be launched any number of times.
class DeviceReduction {
 public:
  /// Allocates the plan's buffers and fills the first with `input`.
  DeviceReduction(Device& device, const ReductionPlan& plan, const Input& input)
      : device_(device),
        plan_(plan),
        in_(device, input.n * size_of(plan.configuration.type)),
        partial_(device, plan.partial_bytes(0)),
        next_partial_(device, plan.partial_bytes(1)) {
    device.fill(in_.data(), input, plan.configuration.type, 0, input.n);
  }

  /// Overwrites all partial sums with a pattern that is no plausible sum.
  void poison() {
    device_.poison(partial_.data(), plan_.partial_bytes(0));
    device_.poison(next_partial_.data(), plan_.partial_bytes(1));
  }

  /// Queues every pass.
  void launch() { sum_ = plan_.launch(in_.data(), partial_.data(), next_partial_.data()); }

  /// Waits for the passes, which have been launched, and compares their sum with its reference.
  void check(const Reference& reference, Result& result) const {
    device_.download(result.value.bytes.data(), sum_, size_of(result.value.type));
    result.verdict = verify(result.value, reference, plan_.most_additions);
  }

 private:
  Device& device_;
  const ReductionPlan& plan_;
  DeviceBuffer in_;
  DeviceBuffer partial_;       ///< sums that the first, third, ... pass leaves
  DeviceBuffer next_partial_;  ///< those of the second, fourth, ...
  const void* sum_ = nullptr;
};

std::vector<double> take_timed_samples(Device& device, DeviceReduction& reduction, const TimingMethod& method,
                                       const std::optional<std::size_t>& samples) {
  const std::unique_ptr<SampleTimer> timer = device.make_timer(method);
  if (timer == nullptr) return {};
  for (unsigned run = 0; run < method.warm_up_runs; ++run)
    reduction.launch();
  const auto take_sample = [&] {
    reduction.poison();
    timer->start();
    for (unsigned run = 0; run < method.back_to_back; ++run)
      reduction.launch();
    return timer->stop() / method.back_to_back;
  };
  return take_samples(samples, [&] { return take_queued_sample(take_sample); });
}

/// Times the reduction, held until a sample is queued where that is asked for and possible.
void time(Device& device, DeviceReduction& reduction, TimingMethod method,
          const std::optional<std::size_t>& samples, Result& result) {
  std::vector<double> ms;
  try {
    ms = take_timed_samples(device, reduction, method, samples);
  } catch (const SampleNotQueued& reason) {
    method.queued = false;
    result.timing_remark = fmt::format(
        "{}, twice in a row, as with CUDA_LAUNCH_BLOCKING=1: the host's launch latency is in the times "
        "(--queue off)",
        reason.what());
    ms = take_timed_samples(device, reduction, method, samples);
  }
  if (ms.empty()) return;
  result.samples = ms.size();
  result.ms = summarise(ms);
  result.timing = method;
}

}  // namespace

Result measure(const Step& step, Device& device, const ReductionPlan& plan, const Options& options) {
  Result result = describe(step, device, plan, options);
  DeviceReduction reduction(device, plan, result.input);
  const Reference reference = reference_sum(result.input, result.type);
  result.expected = to_value(reference);

  reduction.poison();
  const Stopwatch first_run;
  result.pass_counters = device.counters_of([&] { reduction.launch(); });
  reduction.check(reference, result);
  if (result.device.kind == DeviceKind::cuda) result.first_run_ms = first_run.ms();
  if (!result.verdict.verified) return result;

  TimingMethod method = options.timing;
  // Held until all is queued, the device would never come to what the launch waits for.
  if (plan.kernel.traits.waits_for_result) method.queued = false;
  time(device, reduction, method, options.samples, result);
  if (!result.ms) return result;
  reduction.check(reference, result);
  // Without a flush the L2, which may well be faster than the memory, still has the input.
  if (method.flush != Flush::none && result.gbps()) require_possible(*result.gbps(), result.device);
  return result;
}

}  // namespace reduction
