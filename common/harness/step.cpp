#include "harness/step.hpp"

#include <fmt/format.h>

#include <string>

#include "harness/configuration.hpp"
#include "harness/device_selection.hpp"
#include "harness/exit_code.hpp"
#include "harness/measure.hpp"
#include "harness/report.hpp"
#include "harness/run_configurations.hpp"

namespace reduction {

namespace {

const StepKernels& kernels_for(const Step& step, const SelectedDevice& selected) {
  const DeviceInfo& device = selected.device->info();
  if (device.kind != DeviceKind::cuda && step.emulated != nullptr) return *step.emulated;
  std::string needed = "a CUDA device";
  if (step.least_capability > 0)
    needed += fmt::format(" of compute capability {}.0 or higher", step.least_capability);
  if (device.kind != DeviceKind::cuda)
    throw DeviceError(
        fmt::format("it needs {}{}", needed, selected.note.empty() ? "" : "; " + selected.note));
  if (std::stoi(device.compute_capability) < step.least_capability) {
    throw DeviceError(fmt::format("it needs {}; this is {}, compute capability {}", needed, device.name,
                                  device.compute_capability));
  }
  return *step.cuda;
}

/// What the step runs with where the user does not choose; the same on every device.
Options defaults_of(const Step& step) {
  Options defaults;
  for (const StepKernels* kernels : {step.cuda, step.emulated}) {
    if (kernels != nullptr) defaults.block = kernels->front().traits.default_block;
  }
  return defaults;
}

ExitCode run(const Step& step, const Options& options) {
  Report report(options);
  const SelectedDevice selected = select_device(options);
  Device& device = *selected.device;
  const StepKernels& kernels = kernels_for(step, selected);
  const auto kernel_of = [&](ElementType type) { return kernels[static_cast<std::size_t>(type)]; };
  auto planned = plan_configurations(options, device);
  if (kernels.front().traits.chooses_launch && options.sweep == Sweep::block) planned.resize(1);
  // All of them before the first runs: a sweep that cannot end should not begin.
  for (const Configuration& configuration : planned) {
    require_memory(kernel_of(configuration.type), device, configuration);
  }

  report.begin(step.name, step.title, device.info(), selected.note);
  return run_configurations(report, planned, [&](const Configuration& configuration) {
    return measure(step, kernel_of(configuration.type), device, configuration, options);
  });
}

}  // namespace

int run_step(const Step& step, int argc, char** argv) {
  return exit_code_of(step.name, [&] {
    const auto options = parse_options(argc, argv, step.name, step.title, defaults_of(step));
    return options ? run(step, *options) : ExitCode::verified;
  });
}

}  // namespace reduction
