#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/step.hpp"

namespace reduction {

/// One launch of a reduction: `elements` in, `blocks` partial sums out.
struct Pass {
  std::size_t elements;
  std::size_t blocks;
};

/// A launch is the only barrier across the blocks of an ordinary kernel, so a reduction is passes over the partial
/// sums until one is left, or one pass that does it all (StepTraits::single_pass). An input of no elements is one pass
/// by one block, which writes the identity.
/// Throws std::logic_error for a grid_size that would never come down to one.
std::vector<Pass> plan_passes(const StepKernel& kernel, std::size_t n, unsigned block);

/// The most additions that any element goes through: its thread's own, then a tree over the block, pass after pass, and
/// once more where a single pass has several blocks.
std::uint64_t addition_depth(const StepKernel& kernel, const std::vector<Pass>& passes, unsigned block);

/// The additions that each of n elements goes through where all are added in pairs: log2(n), rounded up.
std::uint64_t tree_depth(std::size_t n);

/// Where the passes read and write: the partial sums of the first go to `partial`, those of the second to
/// `next_partial`, and so on in turn.
struct PassBuffers {
  const void* in;
  void* partial;
  void* next_partial;
};

/// Queues every pass and returns the place of the result. `after_pass(k)` is called when pass k is queued. Throws
/// DeviceError, before it queues the pass, for more blocks than a grid may have: 2^31 - 1.
void* launch_passes(const StepKernel& kernel, const std::vector<Pass>& passes, unsigned block,
                    const PassBuffers& buffers, const std::function<void(std::size_t)>& after_pass = {});

}  // namespace reduction
