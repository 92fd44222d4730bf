#pragma once
#include "device/atomics.cuh"

/// The harness has nothing to add up after a launch: *out is the sum.
inline constexpr StepTraits traits{.adds_atomically = true};

/// Each block adds the sum of blockDim.x elements in the first half of `in`, and of their partners in the second half,
/// to *out, which must be zero before. The first half is the longer one if n is odd.
/// Shared memory holds one T per thread; thread 0 adds them up.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;
  const size_t half = ceil_divide(n, 2);

  // A thread past the end adds the identity, because it must still reach the barrier.
  T sum = i < half ? in[i] : T{};
  if (i < half && i + half < n) sum += in[i + half];
  shared[tid] = sum;
  __syncthreads();
  if (tid == 0) {
    for (unsigned other = 1; other < blockDim.x; ++other)
      sum += shared[other];
    add_atomically(out, sum);
  }
}

/// Number of blocks: one thread per element of the first half.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  return ceil_divide(ceil_divide(n, 2), block);
}

/// The whole reduction: the n elements at `in` become one sum at `out`. It includes setting *out to zero.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  set_to_zero(out);
  reduce_kernel<T><<<grid, block, block * sizeof(T)>>>(in, out, n);
}
