#pragma once
/// \file
/// The tree of 08_warp_shuffle, for the steps after it.

#include "device/shuffle_down.cuh"

/// Returns, in lane 0, the sum of a warp's 32 values.
template <typename T> __device__ T warp_sum(T sum) {
#pragma unroll
  for (unsigned stride = 16; stride > 0; stride /= 2)
    sum += shuffle_down(sum, stride);
  return sum;
}

/// Returns, in thread 0, the sum of a block's values. All threads must take part. It uses one T per warp at the start
/// of shared memory: a block barrier must separate it from other uses of that memory, and from another such sum.
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
