#pragma once
#include "device/cuda_or_emulated.cuh"

/// Leaves in out[i] the distances of element i to all n, summed; while a block works on one tile of 64 elements, it loads
/// the next one. n is a multiple of 64, and so is the number of threads.
template <typename T> __global__ void double_buffer_overwritten(const T* in, T* out, size_t n) {
  __shared__ T tile[2][64];
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * 64 + tid;
  const T own = in[i];
  T sum{};
  tile[0][tid] = in[tid];
  for (unsigned k = 0; k < n / 64; ++k) {
    __syncthreads();
    if (k + 1 < n / 64) tile[(k + 1) % 2][tid] = in[(k + 1) * 64 + tid];
    for (unsigned j = 0; j < 64; ++j) {
      const T other = tile[k % 2][j];
      sum += own < other ? other - own : own - other;
    }
  }
  out[i] = sum;
}
