#pragma once
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "device/cuda_or_emulated.cuh"

/// Each block sums every gridDim.x-th tile of blockDim.x elements of `in` into out[blockIdx.x].
/// blockDim.x is a power of two from 32 to 1024; shared memory holds one T per warp.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
  namespace cg = cooperative_groups;
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const unsigned tid = block.thread_rank();

  T sum{};
  for (size_t i = size_t{blockIdx.x} * blockDim.x + tid; i < n; i += size_t{gridDim.x} * blockDim.x)
    sum += in[i];
  sum = cg::reduce(warp, sum, cg::plus<T>());
  if (warp.thread_rank() == 0) shared[warp.meta_group_rank()] = sum;
  block.sync();
  // One warp is left. Lanes without a sum add the identity, because all 32 must take part.
  if (warp.meta_group_rank() == 0) {
    sum = cg::reduce(warp, tid < warp.meta_group_size() ? shared[tid] : T{}, cg::plus<T>());
    if (tid == 0) out[blockIdx.x] = sum;
  }
}

/// Number of blocks, which is also the number of partial sums.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  const size_t enough = blocks_to_fill_device(reduce_kernel<T>, block, block / 32 * sizeof(T));
  return std::min(enough, ceil_divide(n, size_t{block} * 8));  // a thread per eight elements, in whole blocks
}

/// One pass: the n elements at `in` become `grid` partial sums at `out`.
template <typename T> void launch_reduce(unsigned grid, unsigned block, const T* in, T* out, size_t n) {
  reduce_kernel<T><<<grid, block, block / 32 * sizeof(T)>>>(in, out, n);
}
