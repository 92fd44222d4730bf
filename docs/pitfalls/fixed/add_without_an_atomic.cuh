#pragma once
#include "device/cuda_or_emulated.cuh"

/// Leaves one sum for the whole grid in out[0], which is 0 before; the blocks add to it side by side.
template <typename T> __global__ void add_without_an_atomic(const T* in, T* out) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  shared[tid] = in[size_t{blockIdx.x} * blockDim.x + tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) atomicAdd(&out[0], shared[0]);
}
