#pragma once

#include "harness/options.hpp"
#include "harness/reduction_plan.hpp"
#include "harness/result.hpp"

namespace reduction {

/// Fills the input, runs the reduction once and verifies it, takes the timed samples and verifies what the last of them
/// left. Throws DeviceError if the device fails or has too little memory, MeasurementError if the bandwidth is
/// above the device's peak.
Result measure(const Step& step, Device& device, const ReductionPlan& plan, const Options& options);

}  // namespace reduction
