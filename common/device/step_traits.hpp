#pragma once

#include <cstddef>

/// What the harness has to know of a step beside its grid_size and launch_reduce. A kernel.cuh that differs from an
/// ordinary one declares `inline constexpr StepTraits traits{...}`, with the members that differ.
struct StepTraits {
  /// One launch is the whole reduction: its last block adds up the partial sums, and leaves the result at `out`.
  bool single_pass = false;
  /// Blocks add to the one result with atomics, in an order of chance; such a launch is the whole reduction, too.
  bool adds_atomically = false;
  /// The step chooses grid and block itself, and adds in an order that it does not tell.
  bool chooses_launch = false;
  /// launch_reduce waits for the device, as a library does that returns the sum to the host.
  bool waits_for_result = false;
  /// Threads per block where the user does not choose.
  unsigned default_block = 256;
  /// Vectors of 16 bytes that a block takes at a time, as many for each of its threads. Null: it takes elements, one per
  /// thread where the grid has a thread for each, else two.
  std::size_t (*vectors_at_a_time)(unsigned block) = nullptr;
};
