#pragma once
#include "device/atomics.cuh"

/// The harness has nothing to add up after a launch: *out is the sum.
inline constexpr StepTraits traits{.adds_atomically = true};

/// Each thread adds one element to *out, which must be zero before.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;
  if (i < n) *out += in[i];
}

/// Number of blocks: one thread per element.
template <typename T> size_t grid_size(size_t n, unsigned block) { return ceil_divide(n, block); }

/// The whole reduction: the n elements at `in` become one sum at `out`. It includes setting *out to zero.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  reduce_kernel<T><<<grid, block>>>(in, out, n);
}
