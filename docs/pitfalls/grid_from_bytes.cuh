#pragma once
#include "device/cuda_or_emulated.cuh"

/// Meant to sum one tile per block, with as many blocks as the n elements have tiles.
template <typename T> __global__ void grid_from_bytes(const T* in, T* out, size_t n) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;
  shared[tid] = i < n ? in[i] : T{};
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = shared[0];  // finding
}

template <typename T> void launch_grid_from_bytes(unsigned block, const T* in, T* out, size_t n) {
  const size_t size = n * sizeof(T);
  const size_t grid = ceil_divide(size, block);
  grid_from_bytes<T><<<static_cast<unsigned>(grid), block, block * sizeof(T)>>>(in, out, n);
}
