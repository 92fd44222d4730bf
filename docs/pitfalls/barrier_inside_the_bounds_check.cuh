#pragma once
#include "device/cuda_or_emulated.cuh"

/// Meant to sum one tile per block; threads past the end of the input skip everything, barriers included.
template <typename T> __global__ void barrier_inside_the_bounds_check(const T* in, T* out, size_t n) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;
  if (i < n) {
    shared[tid] = in[i];
    __syncthreads();  // finding
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
      if (tid < stride) shared[tid] += shared[tid + stride];
      __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = shared[0];
  }
}
