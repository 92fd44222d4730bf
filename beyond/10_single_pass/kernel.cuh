#pragma once
#include "device/dialect.cuh"

/// The harness has nothing to add up after a launch: out[0] is the sum.
inline constexpr bool single_pass = true;

/// Tickets that blocks of the running launch have taken; 0 before and after it. Two launches must not overlap.
static __device__ unsigned tickets;

/// The sum of a warp's 32 values, in its lane 0. Lanes read each other's registers: no memory, no barrier.
template <typename T> __device__ T warp_sum(T sum) {
#pragma unroll
  for (unsigned stride = 16; stride > 0; stride /= 2)
    sum += shuffle_down(sum, stride);
  return sum;
}

/// The sum of a block's values, in thread 0. Takes one T of shared memory a warp.
template <typename T> __device__ T block_sum(T sum) {
  T* shared = shared_memory<T>();
  const unsigned tid = threadIdx.x;
  sum = warp_sum(sum);
  if (tid % 32 == 0) shared[tid / 32] = sum;
  __syncthreads();
  // One warp is left. A lane for which there is no sum adds the identity: all 32 take part in a shuffle.
  if (tid < 32) sum = warp_sum(tid < blockDim.x / 32 ? shared[tid] : T{});
  return sum;
}

/// Sums vectors of 16 bytes: out[blockIdx.x] becomes the sum of every gridDim.x-th row of blockDim.x vectors of `in`,
/// then out[0] that of these. Block 0 adds what is left at both ends. `in` may begin at any element's address.
/// blockDim.x is a power of two from 32 to 1024, with one T of shared memory a warp.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  const unsigned tid = threadIdx.x;
  const size_t step = size_t{gridDim.x} * blockDim.x;

  // A vector's address is a multiple of 16: fewer elements than a vector has are left before it and after the last.
  const size_t head = std::min<size_t>(n, -reinterpret_cast<size_t>(in) % 16 / sizeof(T));
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
  for (; i < vectors; i += step)
    sum += load_vector(in + head, i).sum();
  sum = block_sum(sum);
  if (tid == 0) out[blockIdx.x] = sum;
  if (gridDim.x == 1) return;

  // The block with the last ticket adds up what all have left. The fences around the ticket let it see that.
  bool is_last = false;
  if (tid == 0) {
    __threadfence();
    is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;  // which sets it back to 0
    if (is_last) __threadfence();
  }
  if (!__syncthreads_or(is_last)) return;
  // In the order of the blocks, whichever is the last: the same bits in every run.
  sum = T{};
  for (unsigned k = tid; k < gridDim.x; k += blockDim.x)
    sum += out[k];
  sum = block_sum(sum);
  if (tid == 0) out[0] = sum;
}

/// Blocks, and so partial sums: enough to fill the device, but at least four vectors a thread.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  const size_t enough = blocks_to_fill_device(reduce_kernel<T>, block, block / 32 * sizeof(T));
  return std::clamp<size_t>(n / (size_t{block} * 4 * Vector<T>::width), 1, enough);
}

/// The whole reduction: the n elements at `in` become one sum at out[0], by way of `grid` partial sums at `out`.
template <typename T> void launch_reduce(size_t grid, unsigned block, const T* in, T* out, size_t n) {
  launch({grid, block, block / 32 * sizeof(T)}, reduce_kernel<T>, in, out, n);
}
