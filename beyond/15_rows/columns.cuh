#pragma once
#include "combine.cuh"
#include "device/temporary_storage.cuh"

/// Each thread combines `each` neighbouring columns of every gridDim.y-th tile of blockDim.y rows of `in`; the block adds
/// up its rows in shared memory, and leaves a result per column in out[blockIdx.y * width + column].
template <typename Operation, unsigned each, typename T>
__global__ void columns(const T* in, Result<Operation>* out, size_t rows, size_t width, size_t stride) {
  alignas(16) extern __shared__ std::byte bytes[];
  auto* shared = reinterpret_cast<Accumulator<Operation>*>(bytes);
  const unsigned tid = threadIdx.y * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y;
  const size_t column = (size_t{blockIdx.x} * blockDim.x + threadIdx.x) * each;

  Accumulator<Operation> sums[each];
  for (auto& sum : sums)
    sum = Operation::identity();
  if (column < width) {
#pragma unroll 4
    for (size_t row = size_t{blockIdx.y} * blockDim.y + threadIdx.y; row < rows;
         row += size_t{gridDim.y} * blockDim.y) {
      T elements[each];
      load(elements, in + row * stride + column);
      for (unsigned k = 0; k < each; ++k)
        sums[k] = Operation::combine(sums[k], Operation::element(elements[k], row));
    }
  }
  // A column of the tile is a thread's own, and its neighbours' are beside it: 32 lanes, 32 banks.
  for (unsigned k = 0; k < each; ++k)
    shared[k * threads + tid] = sums[k];
  __syncthreads();
  for (unsigned half = threads / 2; half >= blockDim.x; half /= 2) {
    for (unsigned k = 0; k < each; ++k) {
      if (tid < half)
        shared[k * threads + tid] =
            Operation::combine(shared[k * threads + tid], shared[k * threads + tid + half]);
    }
    __syncthreads();
  }
  if (threadIdx.y == 0 && column < width) {
    for (unsigned k = 0; k < each; ++k)
      out[size_t{blockIdx.y} * width + column + k] = Operation::result(shared[k * threads + tid]);
  }
}

/// Returns a block's columns and rows: as many threads beside each other as the width takes, at most a warp.
inline dim3 tile(size_t width, unsigned each, unsigned threads) {
  unsigned across = 1;
  while (across < 32 && across * each < width)
    across *= 2;
  return {across, threads / across};
}

/// Queues one kernel, or, where there are too few columns to fill the device, two: parts of them, and the parts.
template <typename Operation, unsigned each>
void launch_columns_of(const float* in, Result<Operation>* out, const Matrix& m) {
  using Part = Accumulator<Operation>;
  static TemporaryStorage storage;
  const dim3 block = tile(m.width, each, 256);
  const unsigned across = grid_of(ceil_divide(m.width, block.x * each));
  const size_t bytes = 256 * each * sizeof(Part);
  const size_t fill = blocks_to_fill_device(columns<IntoParts<Operation>, each, float>, 256, bytes);
  const size_t tall_enough = std::max<size_t>(1, m.rows / (16 * size_t{block.y}));
  const auto parts = static_cast<unsigned>(std::clamp<size_t>(fill / across, 1, tall_enough));
  if (parts == 1) {
    columns<Operation, each><<<across, block, bytes>>>(in, out, m.rows, m.width, m.stride);
    return;
  }
  auto* partial = static_cast<Part*>(storage.at_least(parts * m.width * sizeof(Part)));
  columns<IntoParts<Operation>, each>
      <<<dim3(across, parts), block, bytes>>>(in, partial, m.rows, m.width, m.stride);
  const dim3 tall = tile(m.width, 1, 1024);
  columns<OfParts<Operation>, 1><<<grid_of(ceil_divide(m.width, tall.x)), tall, 1024 * sizeof(Part)>>>(
      partial, out, parts, m.width, m.width);
}

template <typename Operation> void launch_columns(const float* in, Result<Operation>* out, const Matrix& m) {
  if (m.width == 0) return;
  if (has_whole_vectors(in, m))
    launch_columns_of<Operation, 4>(in, out, m);
  else
    launch_columns_of<Operation, 1>(in, out, m);
}
