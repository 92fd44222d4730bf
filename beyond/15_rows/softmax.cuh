#pragma once
#include "blocks_per_row.cuh"
#include "warp_per_row.cuh"

/// So many blocks of 512 threads should fit on a multiprocessor: one loads while the others wait. Of these compute
/// capabilities it holds 2048 threads, of others fewer (CUDA C++ Programming Guide, "Compute Capabilities").
#if __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000 || __CUDA_ARCH__ == 1030
inline constexpr unsigned blocks_of_few_registers = 4;
#else
inline constexpr unsigned blocks_of_few_registers = 2;
#endif
template <unsigned elements, unsigned each>
inline constexpr unsigned resident_blocks = each == 1        ? 1
                                            : elements == 32 ? 2
                                                             : blocks_of_few_registers;

/// blockDim.x threads, a power of two, leave the softmax of one row of `in` in `out`, whose rows have no gaps. A block takes
/// blockDim.y rows, or one where it takes more than a warp. A thread keeps its elements in registers, which it loads `each`
/// at a time: each element is read once.
template <unsigned elements, unsigned each>
__global__ void __launch_bounds__(512, resident_blocks<elements, each>)
    softmax_in_registers(const float* in, float* out, size_t rows, size_t width, size_t stride) {
  const size_t row = size_t{blockIdx.x} * blockDim.y + threadIdx.y;
  const size_t end = row < rows ? width : 0;
  const auto place = [](unsigned k) { return (size_t{k} * blockDim.x + threadIdx.x) * each; };
  float x[elements / each][each];
  LargestAndSum own = SoftmaxSum::identity();
#pragma unroll
  for (unsigned k = 0; k < elements / each; ++k) {
    for (float& element : x[k])
      element = -INFINITY;  // whose exponential is 0
    if (place(k) < end) load(x[k], in + row * stride + place(k));
  }
#pragma unroll
  for (const auto& vector : x)
    for (const float element : vector)
      own.largest = fmaxf(own.largest, element);  // passes over NaN, of which the exponential is NaN
  const float shift = own.largest == -INFINITY ? 0 : own.largest;
#pragma unroll
  for (auto& vector : x)
    for (float& element : vector)
      own.sum += element = expf(element - shift);

  const unsigned lanes = min(blockDim.x, 32U);
  LargestAndSum all = combine_lanes<SoftmaxSum>(own, lanes);
  if (blockDim.x > 32) {  // every warp combines what the warps have
    __shared__ LargestAndSum shared[32];
    const unsigned lane = threadIdx.x % 32;
    if (lane == 0) shared[threadIdx.x / 32] = all;
    __syncthreads();
    all = combine_lanes<SoftmaxSum>(lane < blockDim.x / 32 ? shared[lane] : SoftmaxSum::identity(), 32);
  }
  // The exponentials are those of the thread's own maximum, and the row's result is in the first lane.
  const float largest = __shfl_sync(0xffffffff, all.largest, 0, static_cast<int>(lanes));
  const float sum = __shfl_sync(0xffffffff, SoftmaxSum::result(all).sum, 0, static_cast<int>(lanes));
  const float scale = expf(own.largest - largest) / sum;
#pragma unroll
  for (unsigned k = 0; k < elements / each; ++k) {
    for (float& element : x[k])
      element *= scale;
    if (place(k) < end) store(out + row * width + place(k), x[k]);
  }
}

template <unsigned elements> void launch_softmax_of(const float* in, float* out, const Matrix& m) {
  const unsigned threads = threads_per_row(m.width, elements, 1, 512);
  const dim3 block(threads, threads > 32 ? 1 : 128 / threads);
  const unsigned grid = grid_of(ceil_divide(m.rows, block.y));
  const auto kernel =
      has_whole_vectors(in, m) ? softmax_in_registers<elements, 4> : softmax_in_registers<elements, 1>;
  kernel<<<grid, block>>>(in, out, m.rows, m.width, m.stride);
}

/// Queues one kernel, for rows of at most 32 elements for each of 512 threads.
inline void launch_softmax_in_registers(const float* in, float* out, const Matrix& m) {
  if (m.width <= 64)
    launch_softmax_of<4>(in, out, m);
  else if (m.width <= 8192)
    launch_softmax_of<16>(in, out, m);
  else
    launch_softmax_of<32>(in, out, m);
}

/// Each thread writes the softmax of `each` elements four times, of a row of which `of_row` has maximum and sum.
template <unsigned each>
__global__ void softmax_of_sums(const float* in, float* out, const LargestAndSum* of_row, size_t parts,
                                size_t width, size_t stride) {
  const size_t row = blockIdx.x / parts;
  const LargestAndSum all = of_row[row];
  const float factor = 1 / all.sum;
  for (unsigned k = 0; k < 4; ++k) {
    const size_t i = ((blockIdx.x % parts * 4 + k) * blockDim.x + threadIdx.x) * each;
    if (i >= width) return;
    float x[each];
    load(x, in + row * stride + i);
    for (float& element : x)
      element = expf(element - all.largest) * factor;
    store(out + row * width + i, x);
  }
}

/// Queues three kernels, for rows of any width: they are read twice.
inline void launch_softmax_in_two_passes(const float* in, float* out, const Matrix& m) {
  static TemporaryStorage storage;
  auto* of_row = static_cast<LargestAndSum*>(storage.at_least(m.rows * sizeof(LargestAndSum)));
  launch_blocks_per_row<SoftmaxSum>(in, of_row, m);
  const bool vectors = has_whole_vectors(in, m);
  const size_t parts = std::max<size_t>(1, ceil_divide(m.width, vectors ? 4096 : 1024));
  const auto kernel = vectors ? softmax_of_sums<4> : softmax_of_sums<1>;
  kernel<<<grid_of(m.rows * parts), 256>>>(in, out, of_row, parts, m.width, m.stride);
}
