#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/device.hpp"
#include "harness/step.hpp"

namespace reduction {

/// One run of a step: which elements, how many, in blocks of how many threads.
struct Configuration {
  ElementType type;
  std::uint64_t elements;
  unsigned block;
};

/// Returns how many elements a step takes if the user names no number. On a GPU that is 2^28, well over any L2, or the
/// largest power of two that fits in half of its free memory; on the emulated device it is 2^20.
std::uint64_t default_elements(DeviceKind kind, const Memory& memory, ElementType type);

/// Lists what a command line asks to run on a device of that kind and memory, in order: one configuration, or all of a
/// sweep. Throws UsageError if a sweep would be empty.
std::vector<Configuration> plan_configurations(const Options& options, DeviceKind kind, const Memory& memory);

/// One launch of a reduction: `elements` in, `blocks` partial sums out.
struct Pass {
  std::size_t elements;
  std::size_t blocks;
};

/// The launches of one reduction, planned once, before anything is allocated. A launch is the only barrier across the blocks of
/// an ordinary kernel, so passes go on over the partial sums until one is left; a step of one launch (StepTraits) has one pass.
/// An input of no elements is one pass by one block, which writes the identity.
struct ReductionPlan {
  StepKernel kernel;
  Configuration configuration;
  std::vector<Pass> passes;
  std::uint64_t most_additions = 0;  ///< that an element may go through: the tolerance follows from it

  /// Returns the size of the partial sums that pass k leaves; 0 if there is no such pass.
  std::size_t partial_bytes(std::size_t k) const;

  /// Returns the size of the input and of all partial sums that there are at a time.
  std::size_t buffer_bytes() const;

  /// Queues the passes: the elements at `in` become one sum. The sums of the first pass go to `partial`, those of the
  /// second to `next_partial`, and so on in turn. Returns the sum's place.
  const void* launch(const void* in, void* partial, void* next_partial) const;
};

/// Plans a reduction for a device. Throws std::logic_error for a grid_size that would never come down to one.
/// \param grid  the first pass's, in place of the step's own. Throws UsageError where the kernel cannot do with it.
ReductionPlan plan_reduction(const StepKernel& kernel, const Configuration& configuration,
                             const DeviceInfo& device, const std::optional<std::uint64_t>& grid = {});

/// Returns the number of additions that each of n elements goes through if all are added in pairs: log2(n), rounded up.
std::uint64_t tree_depth(std::size_t n);

}  // namespace reduction
