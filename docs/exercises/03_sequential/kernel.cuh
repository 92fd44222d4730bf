// Exercise 03. End the bank conflicts.
// Goal: at most 45 shared memory wavefronts per block.
// ./emulate --grade 03 docs/exercises/03_sequential/kernel.cuh
#pragma once
#include "device/cuda_or_emulated.cuh"

/// Each block sums one tile of blockDim.x elements of `in` into out[blockIdx.x]; elements past n count as zero.
/// blockDim.x is a power of two from 32 to 1024; shared memory holds one T per thread.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;

  // A thread past the end adds the identity, because it must still reach every barrier.
  shared[tid] = i < n ? in[i] : T{};
  __syncthreads();
  // The first threads do the work, so every warp but one is full or idle.
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned index = 2 * stride * tid;
    if (index < blockDim.x) shared[index] += shared[index + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}

/// Number of blocks, which is also the number of partial sums.
template <typename T> size_t grid_size(size_t n, unsigned block) { return ceil_divide(n, block); }

/// One pass: the n elements at `in` become `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  reduce_kernel<T><<<grid, block, block * sizeof(T)>>>(in, out, n);
}
