#include "harness/step.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "harness/device.hpp"
#include "harness/exit_code.hpp"
#include "harness/measure.hpp"
#include "harness/report.hpp"
#include "harness/trace_file.hpp"

namespace reduction {

namespace {

/// Returns the step's kernels for a device. Throws DeviceError if that cannot run them.
/// \param note  why it is this device, if the user left the choice
const StepKernels& kernels_for(const Step& step, const DeviceInfo& device, const std::string& note) {
  if (device.kind != DeviceKind::cuda && step.emulated != nullptr) return *step.emulated;
  if (device.kind != DeviceKind::cuda)
    throw DeviceError(fmt::format("it needs a CUDA device{}", note.empty() ? "" : "; " + note));
  const int least = step.cuda->front().traits.least_capability;
  if (std::stoi(device.compute_capability) < least) {
    throw DeviceError(
        fmt::format("it needs a CUDA device of compute capability {}.0 or higher; this is {}, compute "
                    "capability {}: `--device emulated` runs it without one",
                    least, device.name, device.compute_capability));
  }
  return *step.cuda;
}

/// Returns what the step runs with if the user does not choose; the same on every device.
Options defaults_of(const Step& step) {
  Options defaults;
  for (const StepKernels* kernels : {step.cuda, step.emulated}) {
    if (kernels != nullptr) defaults.block = kernels->front().traits.default_block;
  }
  return defaults;
}

/// Plans all that the command line asks for before the first of them runs: a sweep that cannot end should not begin.
std::vector<ReductionPlan> plan_reductions(const StepKernels& kernels, const Options& options,
                                           const Device& device) {
  const Memory memory = device.memory();
  std::vector<Configuration> configurations = plan_configurations(options, device.info().kind, memory);
  if (kernels.front().traits.chooses_launch && options.sweep == Sweep::block) configurations.resize(1);
  std::vector<ReductionPlan> plans;
  for (const Configuration& configuration : configurations) {
    const StepKernel& kernel = kernels[static_cast<std::size_t>(configuration.type)];
    plans.push_back(plan_reduction(kernel, configuration, device.info(), options.grid));
    require_memory(configuration.elements, configuration.type, plans.back().buffer_bytes(), memory);
  }
  return plans;
}

/// Throws UsageError for a block that the reduction does not have.
void require_traced_block(const TraceOptions& trace, const ReductionPlan& plan) {
  const auto require = [&](std::string_view what, std::size_t number, std::size_t first, std::size_t last) {
    if (number <= last) return;
    throw UsageError(fmt::format("--trace-block '{}:{}': there is no such {}, give {} to {}", trace.pass,
                                 trace.block, what, first, last));
  };
  if (trace.file.empty()) return;
  require("pass", trace.pass, 1, plan.passes.size());
  require("block", trace.block, 0, plan.passes[trace.pass - 1].blocks - 1);
}

ExitCode run(const Step& step, const Options& options) {
  Report report(options);
  const TraceFile trace_file(options.trace);
  const ChosenDevice chosen = choose_device(options.device);
  const std::unique_ptr<Device> device = chosen.kind == DeviceKind::cuda
                                             ? open_cuda_device(chosen.ordinal)
                                             : open_emulated_device(options.emulation);
  const StepKernels& kernels = kernels_for(step, device->info(), chosen.note);
  const std::vector<ReductionPlan> plans = plan_reductions(kernels, options, *device);
  require_traced_block(options.trace, plans.front());

  report.begin(step.name, step.title, device->info(), chosen.note);
  const TraceSubject subject{std::string(step.name), std::string(step.title),
                             plans.front().configuration.type};
  trace_file.record(subject, options.quiet, [&] {
    for (const ReductionPlan& plan : plans) {
      if (!report.expect(plan.configuration, plans.size())) break;
      report.add(measure(step, *device, plan, options));
    }
  });
  return report.finish();
}

}  // namespace

int run_step(const Step& step, int argc, char** argv) {
  return exit_code_of(step.name, [&] {
    const Options options = parse_options(argc, argv, step.name, step.title, defaults_of(step));
    if (options.answer.empty()) return run(step, options);
    print(stdout, options.answer);
    return ExitCode::verified;
  });
}

}  // namespace reduction
