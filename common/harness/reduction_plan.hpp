#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/configuration.hpp"
#include "harness/device.hpp"
#include "harness/step.hpp"

namespace reduction {

/// One launch of a reduction: `elements` in, `blocks` partial sums out.
struct Pass {
  std::size_t elements;
  std::size_t blocks;
};

/// The launches of one reduction, planned once, before anything is allocated.
struct ReductionPlan {
  StepKernel kernel;
  Configuration configuration;
  std::vector<Pass> passes;
  std::uint64_t most_additions = 0;  ///< that an element may go through: the tolerance follows from it

  /// Returns the size of the input.
  std::size_t input_bytes() const;

  /// Returns the size of the partial sums that pass k leaves; 0 if there is no such pass.
  std::size_t partial_bytes(std::size_t k) const;
};

/// Plans a reduction for a device. Throws std::logic_error for a grid_size that would never come down to one.
ReductionPlan plan_reduction(const StepKernel& kernel, const Configuration& configuration,
                             const DeviceInfo& device);

/// Throws DeviceError, with what is needed and what there is, if a reduction's input, partial sums and timing do not
/// fit into the device's free memory.
void require_memory(const ReductionPlan& plan, const Device& device);

/// Throws DeviceError for a pass of more blocks than a grid may have.
void require_possible_grids(const ReductionPlan& plan);

/// Plans the passes over n elements. A launch is the only barrier across the blocks of an ordinary kernel, so passes go
/// on over the partial sums until one is left; a step of one launch (StepTraits) has one pass. An input of no elements
/// is one pass by one block, which writes the identity. Throws as plan_reduction does.
std::vector<Pass> plan_passes(const StepKernel& kernel, std::size_t n, unsigned block);

/// Returns the most additions that any element goes through: those of its thread, then a tree over the block, pass
/// after pass, and once more where a single pass has several blocks.
std::uint64_t addition_depth(const StepKernel& kernel, const std::vector<Pass>& passes, unsigned block);

/// Returns the number of additions that each of n elements goes through if all are added in pairs: log2(n), rounded up.
std::uint64_t tree_depth(std::size_t n);

}  // namespace reduction
