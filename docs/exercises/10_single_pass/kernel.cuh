// Exercise 10. Let the last block add up what the others have left, and say `.single_pass = true` in `traits`.
// Goal: at most 1 launch.
// ./emulate --grade 10 docs/exercises/10_single_pass/kernel.cuh
#pragma once
#include "device/shuffle_down.cuh"
#include "device/vector.cuh"

/// A block takes a row of vectors at a time, one vector per thread.
inline constexpr StepTraits traits{.vectors_at_a_time = [](unsigned block) -> size_t { return block; }};

/// Returns, in lane 0, the sum of a warp's 32 values. Lanes read each other's registers: no memory, no barrier.
template <typename T> __device__ T warp_sum(T sum) {
#pragma unroll
  for (unsigned stride = 16; stride > 0; stride /= 2)
    sum += shuffle_down(sum, stride);
  return sum;
}

/// Each block sums every gridDim.x-th row of blockDim.x 16-byte vectors of `in` into out[blockIdx.x].
/// Block 0 also adds what is left at both ends. `in` may begin at any element's address.
/// blockDim.x is a power of two from 32 to 1024; shared memory holds one T per warp.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
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
  sum = warp_sum(sum);
  if (tid % 32 == 0) shared[tid / 32] = sum;
  __syncthreads();
  // One warp is left. Lanes without a sum add the identity, because all 32 must take part in a shuffle.
  if (tid < 32) sum = warp_sum(tid < blockDim.x / 32 ? shared[tid] : T{});
  if (tid == 0) out[blockIdx.x] = sum;
}

/// Number of blocks, which is also the number of partial sums.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  const size_t enough = blocks_to_fill_device(reduce_kernel<T>, block, block / 32 * sizeof(T));
  return std::clamp<size_t>(n / (4 * size_t{block} * Vector<T>::width), 1, enough);  // four rows or more
}

/// One pass: the n elements at `in` become `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  reduce_kernel<T><<<grid, block, block / 32 * sizeof(T)>>>(in, out, n);
}
