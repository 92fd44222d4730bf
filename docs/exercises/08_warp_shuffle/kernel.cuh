// Exercise 08. Let the lanes of a warp add in registers: shared memory holds one value per warp.
// Goal: at most 9 shared memory requests per block.
// ./emulate --grade 08 docs/exercises/08_warp_shuffle/kernel.cuh
#pragma once
#include "device/cuda_or_emulated.cuh"

/// Each block sums every gridDim.x-th tile of 2 * block elements of `in` into out[blockIdx.x].
/// block, which is blockDim.x, is a power of two from 32 to 1024; shared memory holds one T per thread.
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
  shared[tid] = sum;
  __syncthreads();
  // Neighbouring threads touch neighbouring words: 32 lanes, 32 banks.
#pragma unroll  // The block size is a constant, so the whole tree becomes straight-line code.
  for (unsigned stride = block / 2; stride > 32; stride /= 2) {
    if (tid < stride) shared[tid] += shared[tid + stride];
    __syncthreads();
  }
  // One warp is left. Its lanes may not run in lockstep, so all of them read before any of them writes.
  if (tid < 32) {
    sum = shared[tid];
#pragma unroll
    for (unsigned stride = 32; stride > 0; stride /= 2) {
      if (stride < 32 || block > 32) sum += shared[tid ^ stride];
      __syncwarp();
      shared[tid] = sum;
      __syncwarp();
    }
  }
  if (tid == 0) out[blockIdx.x] = shared[0];
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
  const size_t enough = blocks_to_fill_device(kernel_for<T>(block), block, block * sizeof(T));
  return std::min(enough, ceil_divide(n, size_t{block} * 8));  // a thread per eight elements, in whole blocks
}

/// One pass: the n elements at `in` become `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  kernel_for<T>(block)<<<grid, block, block * sizeof(T)>>>(in, out, n);
}
