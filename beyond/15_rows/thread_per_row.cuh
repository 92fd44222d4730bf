#pragma once
#include "matrix.hpp"
#include "operations.cuh"

/// Each thread reduces one row of `in`: element i of row r is in[r * stride + i], and i < width <= stride.
template <typename Operation>
__global__ void thread_per_row(const float* in, Result<Operation>* out, size_t rows, size_t width,
                               size_t stride) {
  const size_t row = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  // At a time, the 32 lanes read what is a whole row apart.
  auto sum = Operation::identity();
  for (size_t i = 0; i < width; ++i)
    sum = Operation::combine(sum, Operation::element(in[row * stride + i], i));
  out[row] = Operation::result(sum);
}

template <typename Operation>
void launch_thread_per_row(const float* in, Result<Operation>* out, const Matrix& m) {
  constexpr unsigned block = 256;
  const unsigned grid = grid_of(ceil_divide(m.rows, block));
  thread_per_row<Operation><<<grid, block>>>(in, out, m.rows, m.width, m.stride);
}
