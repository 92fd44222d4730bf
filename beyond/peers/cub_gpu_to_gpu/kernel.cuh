#pragma once
#include <cstddef>
#include <cub/device/device_reduce.cuh>
#include <type_traits>

#include "device/cuda_check.cuh"
#include "device/memory_pool.cuh"
#include "device/step_traits.hpp"

inline constexpr StepTraits traits{.chooses_launch = true};

/// CUB leaves one sum, however many kernels it takes. Throws DeviceError for types without this mode.
template <typename T> std::size_t grid_size(std::size_t, unsigned) {
  if constexpr (!std::is_floating_point_v<T>)
    throw reduction::DeviceError(
        "CUB has this mode for float32 and float64 only: choose one of them with -t");
  return 1;
}

/// Queues the whole reduction on the default stream: the n elements at `in` become one sum at `out`, with the same bits
/// on every GPU. CUB takes its temporary storage from the device's memory pool.
template <typename T> void launch_reduce(unsigned, unsigned, const T* in, T* out, std::size_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    static const KeptMemoryPool pool;
    reduction::cuda_check(cub::DeviceReduce::Sum(
                              in, out, n, cuda::execution::require(cuda::execution::determinism::gpu_to_gpu)),
                          "launching cub::DeviceReduce::Sum");
  }
}
