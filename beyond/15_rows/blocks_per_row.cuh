#pragma once
#include "block_per_row.cuh"
#include "device/temporary_storage.cuh"

/// What a block takes of a row: 16 elements for each of 512 threads.
inline constexpr size_t part_width = 8192;

/// Each block combines one of `parts` parts of a row of `in`, and leaves it in `partial`, row by row.
template <typename Operation>
__global__ void blocks_per_row(const float* in, Accumulator<Operation>* partial, size_t parts, size_t width,
                               size_t stride) {
  const size_t row = blockIdx.x / parts;
  const size_t first = blockIdx.x % parts * part_width;
  const size_t end = min(width, first + part_width);
  const auto sum = combine_block<Operation>(
      combine_elements<Operation>(in + row * stride, first, end, threadIdx.x, blockDim.x));
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

/// Queues two kernels: only a launch is a barrier for all blocks.
template <typename Operation>
void launch_blocks_per_row(const float* in, Result<Operation>* out, const Matrix& m) {
  static TemporaryStorage storage;
  const size_t parts = std::max<size_t>(1, ceil_divide(m.width, part_width));
  const size_t blocks = m.rows * parts;
  auto* partial =
      static_cast<Accumulator<Operation>*>(storage.at_least(blocks * sizeof(Accumulator<Operation>)));
  blocks_per_row<Operation><<<grid_of(blocks), 512>>>(in, partial, parts, m.width, m.stride);
  launch_block_per_row<OfParts<Operation>>(partial, out, Matrix{m.rows, parts, parts});
}
