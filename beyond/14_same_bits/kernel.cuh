#pragma once
#include <cstddef>

#include "../12_any_operation/reduction/reduce.cuh"
#include "device/step_traits.hpp"
#include "device/temporary_storage.cuh"
#include "device/two_reals.cuh"

/// reduce() chooses grid and block itself.
inline constexpr StepTraits traits{.chooses_launch = true};

/// reduce() leaves one sum, however many kernels it takes.
template <typename T> std::size_t grid_size(std::size_t, unsigned) { return 1; }

/// Queues the whole reduction on the default stream: the n elements at `in` become one sum at `out`, with the same bits
/// on every device. The first call of reduce() only says how much temporary storage the second one needs.
template <typename T> void launch_reduce(unsigned, unsigned, const T* in, T* out, std::size_t n) {
  static TemporaryStorage storage;
  const reduction::SameBits sum{reduction::Sum{}};
  std::size_t bytes = 0;
  reduction::cuda_check(reduction::reduce(nullptr, bytes, as_bytes(in), as_bytes(out), n, sum),
                        "asking reduce() for the temporary storage it needs");
  reduction::cuda_check(
      reduction::reduce(storage.at_least(bytes), bytes, as_bytes(in), as_bytes(out), n, sum),
      "launching reduce()");
}
