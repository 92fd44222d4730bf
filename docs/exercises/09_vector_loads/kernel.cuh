// Exercise 09. Load 16 bytes with each instruction. `in` may begin at any element's address.
// Goal: at most 9,000 global memory loads.
// ./emulate --grade 09 docs/exercises/09_vector_loads/kernel.cuh
#pragma once
#include "device/shuffle_down.cuh"

/// Returns, in lane 0, the sum of a warp's 32 values. Lanes read each other's registers: no memory, no barrier.
template <typename T> __device__ T warp_sum(T sum) {
#pragma unroll
  for (unsigned stride = 16; stride > 0; stride /= 2)
    sum += shuffle_down(sum, stride);
  return sum;
}

/// Each block sums every gridDim.x-th tile of 2 * block elements of `in` into out[blockIdx.x].
/// block, which is blockDim.x, is a power of two from 32 to 1024; shared memory holds one T per warp.
template <typename T, unsigned block> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;

  // A grid-stride loop: most additions happen here, in a register; only the last few happen in the tree.
  T sum{};
  for (size_t i = size_t{blockIdx.x} * block * 2 + tid; i < n; i += size_t{gridDim.x} * block * 2) {
    sum += in[i];
    if (i + block < n) sum += in[i + block];
  }
  sum = warp_sum(sum);
  if (tid % 32 == 0) shared[tid / 32] = sum;
  __syncthreads();
  // One warp is left. Lanes without a sum add the identity, because all 32 must take part in a shuffle.
  if (tid < 32) sum = warp_sum(tid < block / 32 ? shared[tid] : T{});
  if (tid == 0) out[blockIdx.x] = sum;
}

/// Returns the kernel that was compiled for this block size.
template <typename T> auto kernel_for(unsigned block) {
  switch (block) {
    case 32: return reduce_kernel<T, 32>;
    case 64: return reduce_kernel<T, 64>;
    case 128: return reduce_kernel<T, 128>;
    case 256: return reduce_kernel<T, 256>;
    case 512: return reduce_kernel<T, 512>;
    case 1024: return reduce_kernel<T, 1024>;
    default: throw std::invalid_argument("a block has 32, 64, 128, 256, 512 or 1024 threads");
  }
}

/// Number of blocks, which is also the number of partial sums.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  const size_t enough = blocks_to_fill_device(kernel_for<T>(block), block, block / 32 * sizeof(T));
  return std::min(enough, ceil_divide(n, size_t{block} * 8));  // a thread per eight elements, in whole blocks
}

/// One pass: the n elements at `in` become `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  kernel_for<T>(block)<<<grid, block, block / 32 * sizeof(T)>>>(in, out, n);
}
