#pragma once

#include "harness/configuration.hpp"
#include "harness/device.hpp"
#include "harness/options.hpp"
#include "harness/result.hpp"
#include "harness/step.hpp"

namespace reduction {

/// Throws DeviceError, with what is needed and what there is, when a configuration's input, partial sums and timing do
/// not fit into the device's free memory.
void require_memory(const StepKernel& kernel, const Device& device, const Configuration& configuration);

/// Fills the input, runs the step once and verifies it, takes the timed samples and verifies what the last of them
/// left. Throws DeviceError when the device fails or has too little memory, MeasurementError when the bandwidth is
/// above the device's peak.
Result measure(const Step& step, const StepKernel& kernel, Device& device, const Configuration& configuration,
               const Options& options);

}  // namespace reduction
