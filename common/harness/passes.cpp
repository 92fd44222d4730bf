#include "harness/passes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "device/device_error.hpp"

namespace reduction {

namespace {

/// Blocks that a grid may have: CUDA C++ Programming Guide, "Compute Capabilities".
constexpr std::size_t most_blocks = (std::size_t{1} << 31) - 1;

std::size_t ceil_divide(std::size_t n, std::size_t part) { return n / part + (n % part != 0 ? 1 : 0); }

/// The most additions that an element goes through in its thread. Blocks take turns, so one may have a turn more than
/// another; a vector's elements are added to each other before they are added to the thread's sum.
std::size_t of_one_thread(const StepKernel& kernel, const Pass& pass, unsigned block) {
  const std::size_t threads = pass.blocks * block;
  if (kernel.traits.vectors_at_a_time == nullptr)
    return pass.elements <= threads ? 1 : 2 * ceil_divide(pass.elements, 2 * threads);
  const std::size_t at_a_time = kernel.traits.vectors_at_a_time(block);
  const std::size_t turns =
      ceil_divide(ceil_divide(pass.elements, kernel.vector_width), at_a_time * pass.blocks);
  return turns * ceil_divide(at_a_time, block) + kernel.vector_width - 1;
}

}  // namespace

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
    depth += of_one_thread(kernel, pass, block) + levels;
  // Where more than one sum is left in the end, the last block adds these up, thread by thread.
  if (const std::size_t left = passes.back().blocks; left > 1) depth += ceil_divide(left, block) + levels;
  return depth;
}

std::uint64_t tree_depth(std::size_t n) {
  return static_cast<std::uint64_t>(std::bit_width(std::max<std::size_t>(n, 1) - 1));
}

void* launch_passes(const StepKernel& kernel, const std::vector<Pass>& passes, unsigned block,
                    const PassBuffers& buffers, const std::function<void(std::size_t)>& after_pass) {
  const void* in = buffers.in;
  void* out = buffers.partial;
  void* next_out = buffers.next_partial;
  for (std::size_t k = 0; k < passes.size(); ++k) {
    if (passes[k].blocks > most_blocks) {
      throw DeviceError(
          fmt::format("{} elements take {} blocks of {} threads, and a grid has at most 2^31 - 1: "
                      "choose a larger block or fewer elements",
                      passes[k].elements, passes[k].blocks, block));
    }
    kernel.launch(static_cast<unsigned>(passes[k].blocks), block, in, out, passes[k].elements);
    if (after_pass) after_pass(k);
    in = out;
    std::swap(out, next_out);
  }
  return const_cast<void*>(in);
}

}  // namespace reduction
