#pragma once
#include <cstddef>
#include <type_traits>

#include "../cub_mode.cuh"

/// CUB leaves one sum, however many kernels it takes. Throws DeviceError for types without this mode.
template <typename T> std::size_t grid_size(std::size_t, unsigned) {
  if constexpr (!std::is_floating_point_v<T>)
    throw reduction::DeviceError(
        "CUB has this mode for float32 and float64 only: choose one of them with -t");
  return 1;
}

/// Queues the whole reduction on the default stream: the n elements at `in` become one sum at `out`, with the same bits
/// on every GPU.
template <typename T> void launch_reduce(unsigned, unsigned, const T* in, T* out, std::size_t n) {
  if constexpr (std::is_floating_point_v<T>) launch_cub(cuda::execution::determinism::gpu_to_gpu, in, out, n);
}
