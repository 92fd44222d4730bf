#include "harness/device_reduction.hpp"

#include <fmt/format.h>

#include <utility>

namespace reduction {

namespace {

/// Blocks that a grid may have: CUDA C++ Programming Guide, "Compute Capabilities".
constexpr std::size_t most_blocks = (std::size_t{1} << 31) - 1;

}  // namespace

DeviceReduction::DeviceReduction(Device& device, const ReductionPlan& plan, const Input& input,
                                 std::uint64_t first)
    : device_(device),
      plan_(plan),
      in_(device, plan.input_bytes()),
      partial_(device, plan.partial_bytes(0)),
      next_partial_(device, plan.partial_bytes(1)) {
  device.fill(in_.data(), input, plan.configuration.type, first, plan.configuration.elements);
}

void DeviceReduction::poison() {
  device_.poison(partial_.data(), plan_.partial_bytes(0));
  device_.poison(next_partial_.data(), plan_.partial_bytes(1));
}

const void* DeviceReduction::launch() {
  return sum_ = launch_passes(plan_, in_.data(), partial_.data(), next_partial_.data());
}

Value DeviceReduction::sum() const {
  Value sum{plan_.configuration.type, {}};
  device_.download(sum.bytes.data(), sum_, size_of(sum.type));
  return sum;
}

CheckedSum DeviceReduction::check(const Reference& reference) const {
  const Value value = sum();
  return {value, verify(value, reference, plan_.most_additions)};
}

const void* launch_passes(const ReductionPlan& plan, const void* in, void* partial, void* next_partial) {
  const unsigned block = plan.configuration.block;
  for (const Pass& pass : plan.passes) {
    if (pass.blocks > most_blocks) {
      throw DeviceError(
          fmt::format("{} elements take {} blocks of {} threads, and a grid has at most 2^31 - 1: "
                      "choose a larger block or fewer elements",
                      pass.elements, pass.blocks, block));
    }
    plan.kernel.launch(static_cast<unsigned>(pass.blocks), block, in, partial, pass.elements);
    in = partial;
    std::swap(partial, next_partial);
  }
  return in;
}

}  // namespace reduction
