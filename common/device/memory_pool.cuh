#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "device/cuda_check.cuh"

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
