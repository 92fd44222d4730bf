#pragma once

#include "harness/device.hpp"
#include "harness/reduction_plan.hpp"
#include "harness/verification.hpp"

namespace reduction {

/// One reduction on a device: its buffers, and everything that is done with them. They are allocated once; the
/// reduction can be launched any number of times. Every member throws DeviceError if the device fails.
class DeviceReduction {
 public:
  /// Allocates the plan's buffers and fills the first with `input`.
  DeviceReduction(Device& device, const ReductionPlan& plan, const Input& input);

  /// Overwrites all partial sums with a pattern that is no plausible sum.
  void poison();

  /// Queues every pass and returns where their sum will be, in device memory.
  const void* launch();

  /// Waits for the passes, which have been launched, and compares their sum with its reference.
  CheckedSum check(const Reference& reference) const;

 private:
  Device& device_;
  ReductionPlan plan_;
  DeviceBuffer in_;
  DeviceBuffer partial_;       ///< sums that the first, third, ... pass leaves
  DeviceBuffer next_partial_;  ///< those of the second, fourth, ...
  const void* sum_ = nullptr;
};

/// Queues the passes of a plan: the elements at `in` become one sum. The sums of the first pass go to `partial`, those
/// of the second to `next_partial`, and so on in turn. Returns the sum's place.
const void* launch_passes(const ReductionPlan& plan, const void* in, void* partial, void* next_partial);

}  // namespace reduction
