#pragma once
#include "device/cuda_or_emulated.cuh"

/// Leaves one sum per block, each in its own cell.
template <typename T> __global__ void one_cell_for_all_blocks(const T* in, T* out) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  shared[tid] = in[size_t{blockIdx.x} * blockDim.x + tid];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}
