#pragma once
#include "device/dialect.cuh"

/// Sums one tile a block: out[blockIdx.x] is the sum of its blockDim.x elements of `in`, as far as n reaches.
/// blockDim.x is a power of two from 32 to 1024, with as many T of shared memory.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;

  // A thread past the end adds the identity: it has to reach every barrier all the same.
  shared[tid] = i < n ? in[i] : T{};
  __syncthreads();
  // The first threads do the work, so that all warps but one are full or idle.
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    const unsigned index = 2 * stride * tid;
    if (index < blockDim.x) shared[index] += shared[index + stride];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
}

/// Blocks, and so partial sums, of one pass over n elements.
template <typename T> size_t grid_size(size_t n, unsigned block) { return ceil_divide(n, block); }

/// One pass: the n elements at `in` become `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  reduce_kernel<T><<<grid, block, block * sizeof(T)>>>(in, out, n);
}
