#pragma once
#include "device/cuda_or_emulated.cuh"

/// Sums one tile per block; the last warp leaves out the level that a block of 32 threads does not have.
template <typename T> __global__ void tail_past_shared_memory(const T* in, T* out) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  shared[tid] = in[size_t{blockIdx.x} * blockDim.x + tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 32; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid < 32) {
    T sum = shared[tid];
    for (unsigned offset = 32; offset > 0; offset /= 2) {
      if (offset < blockDim.x) sum += shared[tid ^ offset];
      __syncwarp();
      shared[tid] = sum;
      __syncwarp();
    }
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}
