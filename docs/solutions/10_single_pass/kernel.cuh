#pragma once
#include "device/block_sum.cuh"
#include "device/vector.cuh"

/// One launch leaves the sum at out[0]. With 1024 threads, the last block has a thread for each partial sum.
inline constexpr StepTraits traits{.single_pass = true,
                                   .default_block = 1024,
                                   .vectors_at_a_time = [](unsigned block) -> size_t { return block; }};
static __device__ unsigned tickets;  // taken by blocks: 0 between launches, which must not overlap

/// Each block sums every gridDim.x-th row of blockDim.x 16-byte vectors of `in` into out[blockIdx.x]; the last block
/// sums these into out[0]. Block 0 also adds what is left at both ends. `in` may begin at any element's address.
/// blockDim.x is a power of two from 32 to 1024; shared memory holds one T per warp.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  const unsigned tid = threadIdx.x;
  const size_t step = size_t{gridDim.x} * blockDim.x;

  // A vector's address is a multiple of 16, so less than one vector is left before the first and after the last.
  const size_t head = min(n, -reinterpret_cast<size_t>(in) % 16 / sizeof(T));
  const size_t vectors = (n - head) / Vector<T>::width;
  const size_t edge = tid < head ? tid : vectors * Vector<T>::width + tid;
  T sum = blockIdx.x == 0 && edge < n ? in[edge] : T{};

  size_t i = size_t{blockIdx.x} * blockDim.x + tid;
  for (; i + 3 * step < vectors; i += 4 * step) {
    Vector<T> loaded[4];  // all four are under way before the first addition waits for one
    for (unsigned k = 0; k < 4; ++k)
      loaded[k] = load_vector(in + head, i + k * step);
    for (const Vector<T>& vector : loaded)
      sum += vector.sum();
  }
  for (unsigned k = 0; k < 3; ++k)  // fewer than four are left
    if (i + k * step < vectors) sum += load_vector(in + head, i + k * step).sum();
  sum = block_sum(sum);
  if (tid == 0) out[blockIdx.x] = sum;
  if (gridDim.x == 1 || tid >= 32) return;

  // The first warp of the block with the last ticket adds up all partial sums. The fences let lane 0 see them.
  int is_last = 0;
  if (tid == 0) {
    __threadfence();
    is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;  // the last ticket sets it back to 0
    __threadfence();
  }
  if (!__shfl_sync(0xffffffff, is_last, 0)) return;
  __syncwarp();  // lets the other lanes see what lane 0 sees: a shuffle orders no memory
  sum = T{};
  for (unsigned k = tid; k < gridDim.x; k += 32)  // same order and same bits, whichever block is last
    sum += out[k];
  sum = warp_sum(sum);
  if (tid == 0) out[0] = sum;
}

/// Number of blocks, which is also the number of partial sums.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  const size_t enough = blocks_to_fill_device(reduce_kernel<T>, block, block / 32 * sizeof(T));
  return std::clamp<size_t>(n / (4 * size_t{block} * Vector<T>::width), 1, enough);  // four rows or more
}

/// The whole reduction: the n elements at `in` become one sum at out[0], by way of `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  reduce_kernel<T><<<grid, block, block / 32 * sizeof(T)>>>(in, out, n);
}
