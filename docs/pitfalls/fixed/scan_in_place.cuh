#pragma once
#include "device/cuda_or_emulated.cuh"

/// Leaves each tile's running sums: element k of the result is the sum of elements 0 to k of its tile.
template <typename T> __global__ void scan_in_place(const T* in, T* out) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;
  shared[tid] = in[i];
  __syncthreads();
  for (unsigned offset = 1; offset < blockDim.x; offset *= 2) {
    const T before = tid >= offset ? shared[tid - offset] : T{};
    __syncthreads();
    shared[tid] += before;
    __syncthreads();
  }
  out[i] = shared[tid];
}
