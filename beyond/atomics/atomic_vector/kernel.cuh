#pragma once
#include "device/dialect.cuh"

/// The harness has nothing to add up after a launch: *out is the sum.
inline constexpr bool adds_atomically = true;

/// Adds the sum of every vector of 16 bytes to *out, which has to be zero before. `in` is aligned to 16 bytes.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  constexpr unsigned width = Vector<T>::width;
  const unsigned tid = threadIdx.x;
  const size_t i = size_t{blockIdx.x} * blockDim.x + tid;
  // n may leave only a part of the last vector, which no load of 16 bytes may touch.
  T sum{};
  if (i < n / width) {
    sum = load_vector(in, i).sum();
  } else {
    for (unsigned k = 0; k < width; ++k)
      if (i * width + k < n) sum += in[i * width + k];
  }
  if (i * width < n) add_atomically(out, sum);
}

/// Blocks of the one pass over n elements: a thread for each vector.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  return ceil_divide(n, size_t{block} * Vector<T>::width);
}

/// The whole reduction: the n elements at `in` become one sum at `out`. Setting it to zero is part of that.
template <typename T> void launch_reduce(size_t grid, unsigned block, const T* in, T* out, size_t n) {
  set_to_zero(out);
  launch({grid, block, 0}, reduce_kernel<T>, in, out, n);
}
