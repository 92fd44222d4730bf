#pragma once
#include "device/cuda_or_emulated.cuh"

/// Sums one tile of 64 elements per block; the lanes of the last warp wait for each other.
template <typename T> __global__ void warp_synchronous_tail(const T* in, T* out) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  shared[tid] = in[size_t{blockIdx.x} * blockDim.x + tid];
  __syncthreads();
  if (tid < 32) {
    T sum = shared[tid];
    for (unsigned offset = 32; offset > 0; offset /= 2) {
      sum += shared[tid + offset];
      __syncwarp();
      shared[tid] = sum;
      __syncwarp();
    }
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}
