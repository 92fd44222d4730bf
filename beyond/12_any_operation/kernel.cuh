#pragma once
#include <cstddef>

#include "device/step_traits.hpp"
#include "device/temporary_storage.cuh"
#include "reduction/reduce.cuh"

/// reduce() chooses grid and block itself.
inline constexpr StepTraits traits{.chooses_launch = true};

/// reduce() leaves one sum, however many kernels it takes.
template <typename T> std::size_t grid_size(std::size_t, unsigned) { return 1; }

/// Queues the whole reduction on the default stream: the n elements at `in` become one sum at `out`.
/// The first call of reduce() only says how much temporary storage the second one needs.
template <typename T> void launch_reduce(unsigned, unsigned, const T* in, T* out, std::size_t n) {
  static TemporaryStorage storage;
  std::size_t bytes = 0;
  reduction::cuda_check(reduction::reduce(nullptr, bytes, in, out, n, reduction::Sum{}),
                        "asking reduce() for the temporary storage it needs");
  reduction::cuda_check(reduction::reduce(storage.at_least(bytes), bytes, in, out, n, reduction::Sum{}),
                        "launching reduce()");
}
