#pragma once
#include "device/cuda_or_emulated.cuh"

/// Sums one tile of 64 elements per block; in the last warp no lane writes what another reads at that level.
template <typename T> __global__ void one_syncwarp_a_level(const T* in, T* out) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  shared[tid] = in[size_t{blockIdx.x} * blockDim.x + tid];
  __syncthreads();
  if (tid < 32) {
    for (unsigned offset = 32; offset > 0; offset /= 2) {
      if (tid < offset) shared[tid] += shared[tid + offset];
      __syncwarp();
    }
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}
