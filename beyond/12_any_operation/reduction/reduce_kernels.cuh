#pragma once
/// \file
/// The kernels of reduce.cuh.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cuda/barrier>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace reduction {

namespace detail {

// Measured on an H200.
inline constexpr unsigned block = 512;          ///< threads
inline constexpr unsigned loads = 4;            ///< vectors that each thread has under way
inline constexpr unsigned combine_block = 256;  ///< threads of the second kernel
inline constexpr unsigned small_block = 256;    ///< threads if one block does it all, and has little to do
inline constexpr unsigned large_block = 1024;   ///< threads if one block does it all
inline constexpr unsigned cluster_blocks = 8;   ///< of `block` threads each
inline constexpr unsigned bulk_block = 512;
inline constexpr unsigned bulk_stages = 3;
inline constexpr unsigned bulk_stage_bytes = 32 << 10;
inline constexpr unsigned bulk_ring_bytes = bulk_stages * bulk_stage_bytes;

/// Holds the elements of one load: those that fill 16 bytes if `wide`, else one.
template <typename T, bool wide> struct alignas(wide ? 16 : alignof(T)) Vector {
  static constexpr unsigned width = wide ? 16 / sizeof(T) : 1;
  T elements[width];

  template <typename Operation> __device__ T combined(Operation operation) const {
    T result = elements[0];
#pragma unroll
    for (unsigned k = 1; k < width; ++k)
      result = operation(result, elements[k]);
    return result;
  }
};

/// Returns the value of the lane `delta` higher up in the warp, moved in words of 4 bytes. All 32 lanes must take part.
template <typename T> __device__ T shuffle_down(const T& value, unsigned delta) {
  std::uint32_t words[(sizeof(T) + 3) / 4] = {};
  std::memcpy(words, &value, sizeof(T));
#pragma unroll
  for (std::uint32_t& word : words)
    word = __shfl_down_sync(0xffffffff, word, delta);
  T moved;
  std::memcpy(&moved, words, sizeof(T));
  return moved;
}

/// Returns, in lane 0, the combined values of the first `lanes` lanes, a power of two. All 32 lanes must take part.
template <unsigned lanes, typename T, typename Operation>
__device__ T warp_reduce(T value, Operation operation) {
#pragma unroll
  for (unsigned stride = lanes / 2; stride > 0; stride /= 2)
    value = operation(value, shuffle_down(value, stride));
  return value;
}

/// Returns, in thread 0, the combined values of a block of `threads` threads.
template <unsigned threads, typename T, typename Operation>
__device__ T block_reduce(T value, Operation operation) {
  // Bytes, because T may have a constructor, and shared memory runs none.
  __shared__ alignas(16) unsigned char bytes[threads / 32 * sizeof(T)];
  T* const shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  value = warp_reduce<32>(value, operation);
  if (tid % 32 == 0) shared[tid / 32] = value;
  __syncthreads();
  if (tid < 32) value = warp_reduce<threads / 32>(tid < threads / 32 ? shared[tid] : value, operation);
  return value;
}

/// Splits the n elements at `in` into vectors and what is left at both ends: less than one vector before the first
/// multiple of 16 bytes, and after the last whole vector.
template <typename T, bool wide> struct Split {
  static constexpr unsigned width = Vector<T, wide>::width;
  const Vector<T, wide>* vectors;
  std::size_t count;  ///< number of vectors
  std::size_t head;   ///< number of elements before them

  __device__ Split(const T* in, std::size_t n) {
    const std::size_t past = reinterpret_cast<std::uintptr_t>(in) % 16;
    head = wide ? min(n, (16 - past) % 16 / sizeof(T)) : 0;
    vectors = reinterpret_cast<const Vector<T, wide>*>(in + head);
    count = (n - head) / width;
  }

  /// Returns thread `tid`'s element of the ends, at most 2 * width - 2 elements, in block 0; else `identity`.
  __device__ T edge(const T* in, std::size_t n, unsigned tid, const T& identity) const {
    const std::size_t i = tid < head ? tid : count * width + tid;
    return blockIdx.x == 0 && i < n ? in[i] : identity;
  }
};

/// Combines the calling thread's part of the n elements at `in`: `loads` vectors of every gridDim.x-th tile.
template <unsigned threads, bool wide, typename T, typename Operation>
__device__ T thread_reduce(const T* in, std::size_t n, Operation operation, const T& identity) {
  const unsigned tid = threadIdx.x;
  const Split<T, wide> split(in, n);
  T result = split.edge(in, n, tid, identity);
  const std::size_t step = std::size_t{gridDim.x} * threads * loads;
  std::size_t i = std::size_t{blockIdx.x} * threads * loads + tid;
  for (; i + (loads - 1) * threads < split.count; i += step) {
    Vector<T, wide> loaded[loads];  // all are under way before the first operation waits for one
#pragma unroll
    for (unsigned k = 0; k < loads; ++k)
      loaded[k] = split.vectors[i + k * threads];
#pragma unroll
    for (unsigned k = 0; k < loads; ++k)
      result = operation(result, loaded[k].combined(operation));
  }
  // The last tile may be incomplete.
#pragma unroll
  for (unsigned k = 0; k < loads; ++k) {
    if (i + k * threads < split.count)
      result = operation(result, split.vectors[i + k * threads].combined(operation));
  }
  return result;
}

/// One block combines the n elements at `in` into out[0].
template <unsigned threads, typename T, typename Operation, bool wide>
__global__ void __launch_bounds__(threads)
    one_block_kernel(const T* in, T* out, std::size_t n, Operation operation, T identity) {
  T result = thread_reduce<threads, wide>(in, n, operation, identity);
  result = block_reduce<threads>(result, operation);
  if (threadIdx.x == 0) *out = result;
}

/// Does the same with the blocks of one cluster, which can write to each other's shared memory.
template <typename T, typename Operation, bool wide>
__global__ void __launch_bounds__(block)
    cluster_kernel(const T* in, T* out, std::size_t n, Operation operation, T identity) {
#if __CUDA_ARCH__ >= 900
  __shared__ alignas(16) unsigned char bytes[cluster_blocks * sizeof(T)];
  auto cluster = cooperative_groups::this_cluster();
  auto started = cluster.barrier_arrive();
  T result = thread_reduce<block, wide>(in, n, operation, identity);
  result = block_reduce<block>(result, operation);
  cluster.barrier_wait(std::move(started));  // a block that has not started has no shared memory yet
  if (threadIdx.x == 0)
    cluster.map_shared_rank(reinterpret_cast<T*>(bytes), 0)[cluster.block_rank()] = result;
  cluster.sync();
  if (cluster.block_rank() != 0 || threadIdx.x >= 32) return;
  const T* const partial = reinterpret_cast<const T*>(bytes);
  result =
      warp_reduce<cluster_blocks>(threadIdx.x < cluster_blocks ? partial[threadIdx.x] : identity, operation);
  if (threadIdx.x == 0) *out = result;
#endif
}

/// Each block combines its share of the n elements at `in` into partial[blockIdx.x].
template <typename T, typename Operation, bool wide>
__global__ void __launch_bounds__(block)
    reduce_kernel(const T* in, T* partial, std::size_t n, Operation operation, T identity) {
  T result = thread_reduce<block, wide>(in, n, operation, identity);
  result = block_reduce<block>(result, operation);
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();  // the second kernel may come now: it waits for this one's end
#endif
  if (threadIdx.x == 0) partial[blockIdx.x] = result;
}

/// Does the same through a ring of stages in shared memory: the copy engine fills some while the threads read another.
template <typename T, typename Operation, bool wide>
__global__ void __launch_bounds__(bulk_block)
    bulk_kernel(const T* in, T* partial, std::size_t n, Operation operation, T identity) {
#if __CUDA_ARCH__ >= 900
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  constexpr unsigned tile = bulk_stage_bytes / 16;  // vectors
  extern __shared__ __align__(128) unsigned char ring_bytes[];
  auto* const ring = reinterpret_cast<Vector<T, wide>*>(ring_bytes);
  __shared__ alignas(Barrier) unsigned char barrier_bytes[bulk_stages * sizeof(Barrier)];
  auto* const filled = reinterpret_cast<Barrier*>(barrier_bytes);
  const unsigned tid = threadIdx.x;
  const Split<T, wide> split(in, n);
  const auto vectors_of = [&](std::size_t t) {
    return static_cast<unsigned>(min(std::size_t{tile}, split.count - t * tile));
  };
  const auto fetch = [&](std::size_t t, unsigned stage) {
    if (t * tile >= split.count) return;
    const unsigned bytes = vectors_of(t) * 16;
    cuda::device::memcpy_async_tx(ring + stage * tile, split.vectors + t * tile,
                                  cuda::aligned_size_t<16>(bytes), filled[stage]);
    static_cast<void>(cuda::device::barrier_arrive_tx(filled[stage], 1, bytes));
  };

  if (tid == 0) {
    for (unsigned stage = 0; stage < bulk_stages; ++stage)
      init(filled + stage, 1);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // the copy engine sees the barriers
    for (unsigned stage = 0; stage < bulk_stages; ++stage)
      fetch(blockIdx.x + std::size_t{stage} * gridDim.x, stage);
  }
  __syncthreads();
  T result = split.edge(in, n, tid, identity);
  unsigned stage = 0;
  bool parity = false;
  for (std::size_t t = blockIdx.x; t * tile < split.count; t += gridDim.x) {
    filled[stage].wait_parity(parity);
    const unsigned count = vectors_of(t);
#pragma unroll 4
    for (unsigned k = tid; k < count; k += bulk_block)
      result = operation(result, ring[stage * tile + k].combined(operation));
    __syncthreads();  // all threads have read the stage: it may be filled again
    if (tid == 0) fetch(t + std::size_t{bulk_stages} * gridDim.x, stage);
    if (++stage == bulk_stages) {
      stage = 0;
      parity = !parity;
    }
  }
  result = block_reduce<bulk_block>(result, operation);
  cudaTriggerProgrammaticLaunchCompletion();
  if (tid == 0) partial[blockIdx.x] = result;
#endif
}

/// One block combines the `count` partial results into out[0].
template <typename T, typename Operation>
__global__ void __launch_bounds__(combine_block)
    combine_kernel(const T* partial, T* out, unsigned count, Operation operation, T identity) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  T result = identity;
  for (unsigned i = threadIdx.x; i < count; i += loads * combine_block) {
    T loaded[loads];  // all are under way before the first operation waits for one
#pragma unroll
    for (unsigned k = 0; k < loads; ++k)
      loaded[k] = i + k * combine_block < count ? partial[i + k * combine_block] : identity;
#pragma unroll
    for (unsigned k = 0; k < loads; ++k)
      result = operation(result, loaded[k]);
  }
  result = block_reduce<combine_block>(result, operation);
  if (threadIdx.x == 0) *out = result;
}

}  // namespace detail

}  // namespace reduction
