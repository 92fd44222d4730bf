#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cub/device/device_reduce.cuh>

#include "device/cuda_check.cuh"
#include "device/step_traits.hpp"

inline constexpr StepTraits traits{.chooses_launch = true};

/// Once made, the memory pool of cudaMallocAsync keeps what is freed, so that a timed run finds what the run before has
/// allocated. Otherwise it is given back whenever the host waits for the device.
class KeptMemoryPool {
 public:
  KeptMemoryPool() {
    int device = 0;
    cudaMemPool_t pool = nullptr;
    std::uint64_t most_kept = UINT64_MAX;
    reduction::cuda_check(cudaGetDevice(&device), "asking for the device");
    reduction::cuda_check(cudaDeviceGetDefaultMemPool(&pool, device), "asking for the device's memory pool");
    reduction::cuda_check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most_kept),
                          "telling the device's memory pool to keep its memory");
  }
};

/// Queues CUB's whole reduction in a mode of `cuda::execution::determinism`, in which CUB takes its temporary storage from
/// the device's memory pool.
template <typename Mode, typename T> void launch_cub(Mode mode, const T* in, T* out, std::size_t n) {
  static const KeptMemoryPool pool;
  reduction::cuda_check(cub::DeviceReduce::Sum(in, out, n, cuda::execution::require(mode)),
                        "launching cub::DeviceReduce::Sum");
}
