// Exercise 06. Let the compiler know the block size, so that the tree needs no loop.
// Goal: no block size without a kernel of its own, no branch back in the PTX.
// ./emulate --grade 06 docs/exercises/06_templated/kernel.cuh
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
  for (unsigned stride = blockDim.x / 2; stride > 32; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  // One warp is left. Its lanes may not run in lockstep, so all of them read before any of them writes.
  if (tid < 32) {
    sum = shared[tid];
#pragma unroll
    for (unsigned stride = 32; stride > 0; stride /= 2) {
      if (stride < 32 || blockDim.x > 32) sum += shared[tid ^ stride];
      __syncwarp();
      shared[tid] = sum;
      __syncwarp();
    }
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}

/// Number of blocks, which is also the number of partial sums.
template <typename T> size_t grid_size(size_t n, unsigned block) { return ceil_divide(n, size_t{block} * 2); }

/// One pass: the n elements at `in` become `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  reduce_kernel<T><<<grid, block, block * sizeof(T)>>>(in, out, n);
}
