#pragma once
/// \file
/// The tree of 08_warp_shuffle, for the steps after it.

#include "device/shuffle_down.cuh"

/// The sum of a warp's 32 values, in its lane 0.
template <typename T> __device__ T warp_sum(T sum) {
#pragma unroll
  for (unsigned stride = 16; stride > 0; stride /= 2)
    sum += shuffle_down(sum, stride);
  return sum;
}

/// The sum of a block's values, in thread 0. Takes one T of shared memory a warp, at its beginning; all threads take part.
/// Between what else uses that memory and this, and between two such sums, there has to be a barrier of the block.
template <typename T> __device__ T block_sum(T sum) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  sum = warp_sum(sum);
  if (tid % 32 == 0) shared[tid / 32] = sum;
  __syncthreads();
  if (tid < 32) sum = warp_sum(tid < blockDim.x / 32 ? shared[tid] : T{});
  return sum;
}
