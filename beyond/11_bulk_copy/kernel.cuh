#pragma once
#include <cuda/barrier>

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

/// A ring of stages in shared memory, each with a barrier that opens when all the bytes on their way have come.
using Barrier = cuda::barrier<cuda::thread_scope_block>;
inline constexpr unsigned stages = 3;
inline constexpr unsigned tile = 2048;  // vectors a stage: 32 KiB
inline constexpr size_t ring_bytes = stages * (tile * size_t{16} + sizeof(Barrier));

/// Sums tiles of vectors of 16 bytes: out[blockIdx.x] becomes the sum of every gridDim.x-th tile of `in`, then out[0]
/// that of these. Block 0 adds what is left at both ends. `in` may begin at any element's address.
/// blockDim.x is a power of two from 32 to 1024, with ring_bytes of shared memory. Compute capability 9.0 or higher.
template <typename T> __global__ void reduce_kernel(const T* in, T* out, size_t n) {
#if __CUDA_ARCH__ >= 900
  const unsigned tid = threadIdx.x;
  const size_t step = size_t{gridDim.x} * tile;
  auto* ring = shared_memory<Vector<T>>();
  auto* filled = reinterpret_cast<Barrier*>(ring + stages * tile);

  // A vector's address is a multiple of 16: fewer elements than a vector has are left before it and after the last.
  const size_t head = std::min<size_t>(n, -reinterpret_cast<size_t>(in) % 16 / sizeof(T));
  const size_t vectors = (n - head) / Vector<T>::width;
  const size_t edge = tid < head ? tid : vectors * Vector<T>::width + tid;
  T sum = blockIdx.x == 0 && edge < n ? in[edge] : T{};

  // One thread asks for a tile. The copy engine brings it, and no register waits for it.
  const auto fetch = [&](size_t first, unsigned stage) {
    if (first >= vectors) return;
    const size_t bytes = std::min<size_t>(tile, vectors - first) * 16;
    const auto* from = reinterpret_cast<const Vector<T>*>(in + head) + first;
    cuda::device::memcpy_async_tx(ring + stage * tile, from, cuda::aligned_size_t<16>(bytes), filled[stage]);
    static_cast<void>(cuda::device::barrier_arrive_tx(filled[stage], 1, static_cast<std::ptrdiff_t>(bytes)));
  };
  size_t i = size_t{blockIdx.x} * tile;
  if (tid == 0) {
    for (unsigned stage = 0; stage < stages; ++stage)
      init(filled + stage, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the copy engine sees the barriers
    for (unsigned stage = 0; stage < stages; ++stage)
      fetch(i + stage * step, stage);
  }
  __syncthreads();
  for (unsigned turn = 0; i < vectors; i += step, ++turn) {
    const unsigned stage = turn % stages;
    filled[stage].wait_parity(turn / stages % 2);
    for (size_t k = tid; k < tile && i + k < vectors; k += blockDim.x)
      sum += ring[stage * tile + k].sum();
    __syncthreads();  // all have read the stage: it may be filled again
    if (tid == 0) fetch(i + stages * step, stage);
  }
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
#endif
}

/// The kernel, which may have more shared memory than one may have without asking.
template <typename T> auto kernel() {
  reduction::cuda_check(
      cudaFuncSetAttribute(reduce_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, ring_bytes),
      "asking for shared memory");
  return reduce_kernel<T>;
}

/// Blocks, and so partial sums: enough to fill the device, but at least a tile each.
template <typename T> size_t grid_size(size_t n, unsigned block) {
  const size_t enough = blocks_to_fill_device(kernel<T>(), block, ring_bytes);
  return std::clamp<size_t>(n / (size_t{tile} * Vector<T>::width), 1, enough);
}

/// The whole reduction: the n elements at `in` become one sum at out[0], by way of `grid` partial sums at `out`.
template <typename T> void launch_reduce(size_t grid, unsigned block, const T* in, T* out, size_t n) {
  launch({grid, block, ring_bytes}, kernel<T>(), in, out, n);
}
