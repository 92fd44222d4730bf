#include "harness/device_reduction.hpp"

#include <utility>

namespace reduction {

DeviceReduction::DeviceReduction(Device& device, const ReductionPlan& plan, const Input& input)
    : device_(device),
      plan_(plan),
      in_(device, plan.input_bytes()),
      partial_(device, plan.partial_bytes(0)),
      next_partial_(device, plan.partial_bytes(1)) {
  device.fill(in_.data(), input, plan.configuration.type, 0, plan.configuration.elements);
}

void DeviceReduction::poison() {
  device_.poison(partial_.data(), plan_.partial_bytes(0));
  device_.poison(next_partial_.data(), plan_.partial_bytes(1));
}

const void* DeviceReduction::launch() {
  return sum_ = launch_passes(plan_, in_.data(), partial_.data(), next_partial_.data());
}

CheckedSum DeviceReduction::check(const Reference& reference) const {
  Value sum{plan_.configuration.type, {}};
  device_.download(sum.bytes.data(), sum_, size_of(sum.type));
  return {sum, verify(sum, reference, plan_.most_additions)};
}

const void* launch_passes(const ReductionPlan& plan, const void* in, void* partial, void* next_partial) {
  const unsigned block = plan.configuration.block;
  for (const Pass& pass : plan.passes) {
    plan.kernel.launch(static_cast<unsigned>(pass.blocks), block, in, partial, pass.elements);
    in = partial;
    std::swap(partial, next_partial);
  }
  return in;
}

}  // namespace reduction
