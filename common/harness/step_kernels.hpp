#pragma once
/// \file
/// The bridge between a step's templates and the compiled harness: two function pointers an element type.

#include <array>
#include <cstddef>

#include "harness/element_type.hpp"

namespace reduction {

/// A step's two functions for one element type.
struct StepKernel {
  /// Partial sums that one pass over n >= 1 elements leaves.
  std::size_t (*grid_size)(std::size_t n, unsigned block);
  /// Queues one pass: the n elements at `in` become `grid` partial sums at `out`.
  void (*launch)(std::size_t grid, unsigned block, const void* in, void* out, std::size_t n);
  /// Whether one pass is the whole reduction: its last block adds up the partial sums, and leaves the result at `out`.
  bool single_pass = false;
  /// Whether blocks add to the one result with atomics, in an order of chance; such a launch is a single pass.
  bool adds_atomically = false;
  /// Whether launch waits for the device, as a library does that returns the sum to the host.
  bool waits_for_result = false;
  /// Threads a block where the user does not choose.
  unsigned default_block = 256;
  /// Vectors of 16 bytes that a block takes at a time, as many for each of its threads. Null: it takes elements, one a
  /// thread where the grid has a thread for each, else two.
  std::size_t (*vectors_at_a_time)(unsigned block) = nullptr;
  /// Elements in such a vector.
  std::size_t vector_width = 1;
};

/// A step compiled for one kind of device, indexed by ElementType.
using StepKernels = std::array<StepKernel, element_types.size()>;

/// The step's kernels for the emulated device, compiled by the host compiler from the same kernel.cuh as the CUDA ones
/// (emulated_step.cpp).
const StepKernels& emulated_step_kernels();

}  // namespace reduction
