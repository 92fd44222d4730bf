#pragma once
/// \file
/// What a kernel.cuh may use: CUDA C++, from nvcc or from the emulated device, and the two helpers below.

#include <algorithm>
#include <cstddef>

#include "device/step_traits.hpp"

#ifdef __CUDACC__
#include <cuda_runtime.h>

#include "device/cuda_check.cuh"
#else
#include "emulated/language/cuda.hpp"
#include "emulated/run/device.hpp"
#endif

using std::size_t;

/// Returns how many parts of `part` elements hold n elements.
constexpr size_t ceil_divide(size_t n, size_t part) { return n / part + (n % part != 0 ? 1 : 0); }

/// Returns the number of blocks that are resident at once when `kernel` has the device to itself; 1 where not even one
/// fits: the launch will say why.
template <typename... Parameters>
size_t blocks_to_fill_device([[maybe_unused]] void (*kernel)(Parameters...), unsigned block,
                             size_t shared_bytes) {
#ifdef __CUDACC__
  int device = 0;
  int multiprocessors = 0;
  int blocks_per_multiprocessor = 0;
  reduction::cuda_check(cudaGetDevice(&device), "asking for the current device");
  reduction::cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                        "asking for the number of multiprocessors");
  reduction::cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, kernel,
                                                                      static_cast<int>(block), shared_bytes),
                        "asking for the kernel's occupancy");
  return static_cast<size_t>(std::max(1, multiprocessors * blocks_per_multiprocessor));
#else
  return __emulated::resident_blocks(block, shared_bytes);
#endif
}
