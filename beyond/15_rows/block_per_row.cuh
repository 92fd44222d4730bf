#pragma once
#include "combine.cuh"

/// Each block reduces one row of `in`.
template <typename Operation, typename T>
__global__ void block_per_row(const T* in, Result<Operation>* out, size_t width, size_t stride) {
  const size_t row = blockIdx.x;
  const auto sum = combine_block<Operation>(
      combine_elements<Operation>(in + row * stride, 0, width, threadIdx.x, blockDim.x));
  if (threadIdx.x == 0) out[row] = Operation::result(sum);
}

template <typename Operation, typename T>
void launch_block_per_row(const T* in, Result<Operation>* out, const Matrix& m) {
  const unsigned block = threads_per_row(m.width, 16, 64, 512);
  block_per_row<Operation><<<grid_of(m.rows), block>>>(in, out, m.width, m.stride);
}
