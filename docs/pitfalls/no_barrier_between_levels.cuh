#pragma once
#include "device/cuda_or_emulated.cuh"

/// Meant to sum one tile per block; a level begins while other warps are still adding in the level before.
template <typename T> __global__ void no_barrier_between_levels(const T* in, T* out) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  shared[tid] = in[size_t{blockIdx.x} * blockDim.x + tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];  // finding
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}
