#pragma once
#include "combine.cuh"

/// blockDim.x lanes reduce one row of `in`, a power of two up to 32, and a block blockDim.y rows.
template <typename Operation>
__global__ void warp_per_row(const float* in, Result<Operation>* out, size_t rows, size_t width,
                             size_t stride) {
  const size_t row = size_t{blockIdx.x} * blockDim.y + threadIdx.y;
  // A lane without a row has the identity, because all 32 must take part in a shuffle.
  auto sum = Operation::identity();
  if (row < rows) sum = combine_elements<Operation>(in + row * stride, 0, width, threadIdx.x, blockDim.x);
  sum = combine_lanes<Operation>(sum, blockDim.x);
  if (threadIdx.x == 0 && row < rows) out[row] = Operation::result(sum);
}

template <typename Operation>
void launch_warp_per_row(const float* in, Result<Operation>* out, const Matrix& m) {
  const unsigned lanes = threads_per_row(m.width, 16, 1, 32);
  const dim3 block(lanes, 256 / lanes);
  const unsigned grid = grid_of(ceil_divide(m.rows, block.y));
  warp_per_row<Operation><<<grid, block>>>(in, out, m.rows, m.width, m.stride);
}
