#pragma once
#include "device/atomics.cuh"
#include "device/vector.cuh"

/// The harness has nothing to add up after a launch: *out is the sum.
inline constexpr StepTraits traits{.adds_atomically = true};

inline constexpr size_t each = 8;  // vectors per thread

/// Each thread adds the sum of eight vectors of 16 bytes to *out, which must be zero before. Block 0 also adds what is
/// left at both ends. `in` may begin at any element's address.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  const unsigned tid = threadIdx.x;
  const size_t first = size_t{blockIdx.x} * blockDim.x * each + tid;

  // A vector's address is a multiple of 16, so less than one vector is left before the first and after the last.
  const size_t head = min(n, -reinterpret_cast<size_t>(in) % 16 / sizeof(T));
  const size_t vectors = (n - head) / Vector<T>::width;
  const size_t edge = tid < head ? tid : vectors * Vector<T>::width + tid;
  const bool has_edge = blockIdx.x == 0 && edge < n;
  T sum = has_edge ? in[edge] : T{};
  for (size_t k = 0, i = first; k < each && i < vectors; ++k, i += blockDim.x)
    sum += load_vector(in + head, i).sum();
  if (first < vectors || has_edge) add_atomically(out, sum);
}

/// Number of blocks: one thread per eight vectors.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  return ceil_divide(n, size_t{block} * each * Vector<T>::width);
}

/// The whole reduction: the n elements at `in` become one sum at `out`. It includes setting *out to zero.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  set_to_zero(out);
  reduce_kernel<T><<<grid, block>>>(in, out, n);
}
