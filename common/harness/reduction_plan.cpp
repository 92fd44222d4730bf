#include "harness/reduction_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace reduction {

namespace {

/// Blocks that a grid may have: CUDA C++ Programming Guide, "Compute Capabilities".
constexpr std::size_t most_blocks = (std::size_t{1} << 31) - 1;

std::size_t ceil_divide(std::size_t n, std::size_t part) { return n / part + (n % part != 0 ? 1 : 0); }

/// Returns the most additions that an element goes through in its thread. Blocks take turns, so one may have a turn
/// more than another; a vector's elements are added to each other before they are added to the thread's sum.
std::size_t additions_of_one_thread(const StepKernel& kernel, const Pass& pass, unsigned block) {
  const std::size_t threads = pass.blocks * block;
  if (kernel.traits.vectors_at_a_time == nullptr)
    return pass.elements <= threads ? 1 : 2 * ceil_divide(pass.elements, 2 * threads);
  const std::size_t at_a_time = kernel.traits.vectors_at_a_time(block);
  const std::size_t turns =
      ceil_divide(ceil_divide(pass.elements, kernel.vector_width), at_a_time * pass.blocks);
  return turns * ceil_divide(at_a_time, block) + kernel.vector_width - 1;
}

/// A step that chooses its own launch does not say how it adds: we assume threads that fill the device, 1024 per
/// multiprocessor, and trees of at most 128 additions on top. Atomics add one after the other, n of them at worst, in
/// any order. A bound for that would excuse any sum of 2^24 floats, so they must meet that of a tree of all elements,
/// as step 00's running sum must.
std::uint64_t most_additions(const StepKernel& kernel, const std::vector<Pass>& passes, unsigned block,
                             const DeviceInfo& device) {
  const std::size_t n = passes.front().elements;
  if (kernel.traits.adds_atomically) return tree_depth(n);
  if (!kernel.traits.chooses_launch) return addition_depth(kernel, passes, block);
  return n / (std::size_t{1024} * std::max(1u, device.sms)) + 128;
}

}  // namespace

std::size_t ReductionPlan::input_bytes() const {
  return configuration.elements * size_of(configuration.type);
}

std::size_t ReductionPlan::partial_bytes(std::size_t k) const {
  return k < passes.size() ? passes[k].blocks * size_of(configuration.type) : 0;
}

ReductionPlan plan_reduction(const StepKernel& kernel, const Configuration& configuration,
                             const DeviceInfo& device) {
  ReductionPlan plan{kernel, configuration, plan_passes(kernel, configuration.elements, configuration.block)};
  plan.most_additions = most_additions(kernel, plan.passes, configuration.block, device);
  return plan;
}

void require_memory(const ReductionPlan& plan, const Device& device) {
  const std::size_t needed =
      plan.input_bytes() + plan.partial_bytes(0) + plan.partial_bytes(1) + device.own_bytes();
  const DeviceRoom room = room_of(device);
  if (needed > room.available_bytes) throw out_of_memory(plan.configuration, needed, room);
}

void require_possible_grids(const ReductionPlan& plan) {
  for (const Pass& pass : plan.passes) {
    if (pass.blocks > most_blocks) {
      throw DeviceError(
          fmt::format("{} elements take {} blocks of {} threads, and a grid has at most 2^31 - 1: "
                      "choose a larger block or fewer elements",
                      pass.elements, pass.blocks, plan.configuration.block));
    }
  }
}

std::vector<Pass> plan_passes(const StepKernel& kernel, std::size_t n, unsigned block) {
  const bool is_single_pass = kernel.traits.single_pass || kernel.traits.adds_atomically;
  std::vector<Pass> passes;
  do {
    const std::size_t blocks = std::max<std::size_t>(1, kernel.grid_size(n, block));
    if (n > 1 && blocks >= n) {
      throw std::logic_error(fmt::format(
          "grid_size({}, {}) is {}: with no fewer sums than elements passes never end", n, block, blocks));
    }
    passes.push_back({n, blocks});
    n = blocks;
  } while (n > 1 && !is_single_pass);
  return passes;
}

std::uint64_t addition_depth(const StepKernel& kernel, const std::vector<Pass>& passes, unsigned block) {
  const auto levels = static_cast<std::uint64_t>(std::bit_width(block) - 1);  // of a block's tree
  std::uint64_t depth = 0;
  for (const Pass& pass : passes)
    depth += additions_of_one_thread(kernel, pass, block) + levels;
  // Where more than one sum is left in the end, the last block adds these up, thread by thread.
  if (const std::size_t left = passes.back().blocks; left > 1) depth += ceil_divide(left, block) + levels;
  return depth;
}

std::uint64_t tree_depth(std::size_t n) {
  return static_cast<std::uint64_t>(std::bit_width(std::max<std::size_t>(n, 1) - 1));
}

}  // namespace reduction
