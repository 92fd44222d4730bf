#pragma once
#include "device/cuda_or_emulated.cuh"

template <typename T> __device__ T sum_of_last_warp(T* shared, unsigned tid) {
  T sum = shared[tid];
  for (unsigned offset = 32; offset > 0; offset /= 2) {
    if (offset < block_size) sum += shared[tid ^ offset];  // error
    __syncwarp();
    shared[tid] = sum;
    __syncwarp();
  }
  return sum;
}

/// Each block of `block_size` threads has one tile to sum.
template <typename T, unsigned block_size>
__global__ void block_size_outside_the_template(const T* in, T* out) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  shared[tid] = in[size_t{blockIdx.x} * block_size + tid];
  __syncthreads();
  for (unsigned stride = block_size / 2; stride > 32; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid < 32) {
    const T sum = sum_of_last_warp(shared, tid);
    if (tid == 0) out[blockIdx.x] = sum;
  }
}
