// Exercise 01. Write the kernel: a block adds up its tile as a tree in shared memory.
// Goal: at most 160 shared memory requests per block.
// ./emulate --grade 01 docs/exercises/01_interleaved/kernel.cuh
#pragma once
#include "device/cuda_or_emulated.cuh"

/// Each block sums one tile of blockDim.x elements of `in` into out[blockIdx.x]; elements past n count as zero.
/// blockDim.x is a power of two from 32 to 1024; shared memory holds one T per thread.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  // Yours.
}

/// Number of blocks, which is also the number of partial sums.
template <typename T> size_t grid_size(size_t n, unsigned block) { return ceil_divide(n, block); }

/// One pass: the n elements at `in` become `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  reduce_kernel<T><<<grid, block, block * sizeof(T)>>>(in, out, n);
}
