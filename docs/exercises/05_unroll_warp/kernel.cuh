// Exercise 05. Let the last warp finish without block barriers.
// Goal: at most 3 block barriers per block, at most 60 shared memory requests per block.
// ./emulate --grade 05 docs/exercises/05_unroll_warp/kernel.cuh
#pragma once
#include "device/cuda_or_emulated.cuh"

/// Each block sums one tile of 2 * blockDim.x elements of `in` into out[blockIdx.x]; elements past n count as zero.
/// blockDim.x is a power of two from 32 to 1024; shared memory holds one T per thread.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x * 2 + tid;

  // A thread past the end adds the identity, because it must still reach every barrier.
  T sum = i < n ? in[i] : T{};
  // The first addition happens while loading, and every thread takes part in it.
  if (i + blockDim.x < n) sum += in[i + blockDim.x];
  shared[tid] = sum;
  __syncthreads();
  // Neighbouring threads touch neighbouring words: 32 lanes, 32 banks.
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}

/// Number of blocks, which is also the number of partial sums.
template <typename T> size_t grid_size(size_t n, unsigned block) { return ceil_divide(n, size_t{block} * 2); }

/// One pass: the n elements at `in` become `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  reduce_kernel<T><<<grid, block, block * sizeof(T)>>>(in, out, n);
}
