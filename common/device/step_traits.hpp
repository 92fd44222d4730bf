#pragma once

#include <cstddef>

/// What the harness must know about a step, beside its grid_size and launch_reduce. A kernel.cuh that differs from an
/// ordinary one declares `inline constexpr StepTraits traits{...}`, with the members that differ.
struct StepTraits {
  /// One launch is the whole reduction: its last block adds up the partial sums and leaves the result at `out`.
  bool single_pass = false;
  /// Blocks add to the one result with atomics, in any order. One launch is the whole reduction here, too.
  bool adds_atomically = false;
  /// The step chooses grid and block itself, and adds in an unknown order.
  bool chooses_launch = false;
  /// launch_reduce waits for the device, as a library that returns the sum to the host does.
  bool waits_for_result = false;
  /// The major compute capability of the oldest GPU that can run it; 0: any.
  int least_capability = 0;
  /// Threads per block if the user does not choose.
  unsigned default_block = 256;
  /// Number of 16-byte vectors that a block takes at a time, the same for each of its threads. Null: it takes elements,
  /// one per thread if the grid has a thread for each, else two.
  std::size_t (*vectors_at_a_time)(unsigned block) = nullptr;
};
