#pragma once
#include <cstddef>
#include <cub/device/device_reduce.cuh>

#include "device/cuda_check.cuh"
#include "device/step_traits.hpp"
#include "device/temporary_storage.cuh"

inline constexpr StepTraits traits{.chooses_launch = true};

/// CUB leaves one sum, however many kernels it takes.
template <typename T> std::size_t grid_size(std::size_t, unsigned) { return 1; }

/// Queues the whole reduction on the default stream: the n elements at `in` become one sum at `out`.
/// CUB chooses grid and block itself. Its first call only says how much temporary storage the second one needs.
template <typename T> void launch_reduce(unsigned, unsigned, const T* in, T* out, std::size_t n) {
  static TemporaryStorage storage;
  std::size_t bytes = 0;
  reduction::cuda_check(cub::DeviceReduce::Sum(nullptr, bytes, in, out, n),
                        "asking CUB for the temporary storage it needs");
  reduction::cuda_check(cub::DeviceReduce::Sum(storage.at_least(bytes), bytes, in, out, n),
                        "launching cub::DeviceReduce::Sum");
}
