#pragma once
#include "device/cuda_or_emulated.cuh"

/// Each block sums one tile of blockDim.x elements of `in` into out[blockIdx.x]; elements past n count as zero.
/// blockDim.x is a power of two from 32 to 1024; shared memory holds one T per thread.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;

  if (i >= n) return;
  shared[tid] = in[i];
  __syncthreads();
  // Threads 0, 2, 4, ... work, then 0, 4, 8, ...: fewer and fewer lanes of the same warps.
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    if (tid % (2 * stride) == 0) shared[tid] += shared[tid + stride];
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
