#include "harness/measure.hpp"

#include <fmt/format.h>

#include "harness/device_reduction.hpp"
#include "harness/sampling.hpp"

namespace reduction {

namespace {

Result describe(const Step& step, const Device& device, const ReductionPlan& plan, const Options& options) {
  Result result;
  result.step = step.name;
  result.title = step.title;
  result.device = device.info();
  result.type = plan.configuration.type;
  result.input = {options.data, options.seed, plan.configuration.elements};
  if (!plan.kernel.traits.chooses_launch) {
    result.block = plan.configuration.block;
    result.passes = plan.passes;
  }
  return result;
}

void keep(const CheckedSum& checked, Result& result) {
  result.value = checked.value;
  result.verdict = checked.verdict;
}

std::vector<double> take_timed_samples(Device& device, DeviceReduction& reduction, const TimingMethod& method,
                                       const SamplingPlan& plan) {
  const std::unique_ptr<SampleTimer> timer = device.make_timer(method);
  if (timer == nullptr) return {};
  for (unsigned run = 0; run < method.warm_up_runs; ++run)
    reduction.launch();
  const auto take_sample = [&] {
    reduction.poison();
    timer->start();
    reduction.launch();
    return timer->stop();
  };
  return take_samples(plan, [&] { return take_queued_sample(take_sample); });
}

/// Times the reduction, held until a sample is queued where that is asked for and possible.
void time(Device& device, DeviceReduction& reduction, const TimingMethod& method, const SamplingPlan& plan,
          Result& result) {
  TimingMethod used = method;
  std::vector<double> ms;
  try {
    ms = take_timed_samples(device, reduction, used, plan);
  } catch (const SampleNotQueued& reason) {
    used.queued = false;
    result.timing_remark = fmt::format(
        "{}, twice in a row, as with CUDA_LAUNCH_BLOCKING=1: the host's launch latency is in the times "
        "(--queue off)",
        reason.what());
    ms = take_timed_samples(device, reduction, used, plan);
  }
  if (ms.empty()) return;
  result.samples = ms.size();
  result.ms = summarise(ms);
  result.timing = used;
}

}  // namespace

Result measure(const Step& step, Device& device, const ReductionPlan& plan, const Options& options) {
  require_memory(plan, device);  // in a sweep there may be less than when it was planned
  Result result = describe(step, device, plan, options);
  DeviceReduction reduction(device, plan, result.input);
  const Reference reference = reference_sum(result.input, result.type);
  result.expected = to_value(reference);

  device.take_launch_counters();  // those of an earlier configuration
  reduction.poison();
  const Stopwatch first_run;
  reduction.launch();
  keep(reduction.check(reference), result);
  if (result.device.kind == DeviceKind::cuda) result.first_run_ms = first_run.ms();
  result.pass_counters = device.take_launch_counters();
  if (!result.verdict.verified) return result;

  TimingMethod method = options.timing;
  // Held until all is queued, the device would never come to what the launch waits for.
  if (plan.kernel.traits.waits_for_result) method.queued = false;
  time(device, reduction, method, {options.samples}, result);
  if (!result.ms) return result;
  keep(reduction.check(reference), result);
  // Without a flush the L2, which may well be faster than the memory, still has the input.
  if (method.flush != Flush::none && result.gbps()) require_possible(*result.gbps(), result.device);
  return result;
}

}  // namespace reduction
