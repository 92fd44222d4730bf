// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// The kernels of reduce.cuh. R is a Reduction: what they do with the elements.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "constants.cuh"
#include "elements.cuh"
#include "hopper.cuh"
#include "version.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

/// What the result begins with, if `given`.
template <typename A> struct Init {
  A value;
  bool given;
};

// ---- within a block ----

/// Returns the value of the lane `delta` higher up in the warp, moved in words of 4 bytes. All 32 lanes must take part.
template <typename A> __device__ A shuffle_down(const A& value, unsigned delta) {
  constexpr unsigned count = (sizeof(A) + 3) / 4;
  std::uint32_t words[count] = {};
  std::memcpy(words, __builtin_addressof(value), sizeof(A));  // A may have an operator&
#pragma unroll count <= 16 ? count : 1  // more are not in registers anyway, and take minutes to compile
  for (unsigned k = 0; k < count; ++k)
    words[k] = __shfl_down_sync(0xffffffff, words[k], delta);
  A moved;
  std::memcpy(static_cast<void*>(__builtin_addressof(moved)), words, sizeof(A));
  return moved;
}

/// Returns, in lane 0, the combined values of the first `lanes` lanes, a power of two. All 32 lanes must take part.
template <unsigned lanes, typename R>
__device__ typename R::Accumulator warp_reduce(typename R::Accumulator value, const R& reduction) {
#pragma unroll
  for (unsigned stride = lanes / 2; stride > 0; stride /= 2)
    value = reduction.combined(value, detail::shuffle_down(value, stride));
  return value;
}

/// Returns, in thread 0, the combined values that the warps of a block of `threads` threads have in lane 0.
template <unsigned threads, typename R>
__device__ typename R::Accumulator combine_warps(typename R::Accumulator value, const R& reduction) {
  using A = typename R::Accumulator;
  // Bytes, because A may have a constructor, and shared memory runs none.
  __shared__ alignas(16) unsigned char bytes[threads / 32 * sizeof(A)];
  A* const shared = reinterpret_cast<A*>(bytes);
  const unsigned tid = threadIdx.x;
  if (tid % 32 == 0) shared[tid / 32] = value;
  __syncthreads();
  if (tid < 32)
    value = detail::warp_reduce<threads / 32>(tid < threads / 32 ? shared[tid] : value, reduction);
  return value;
}

/// Returns, in thread 0, the combined values of a block of `threads` threads.
template <unsigned threads, typename R>
__device__ typename R::Accumulator block_reduce(typename R::Accumulator value, const R& reduction) {
  return detail::combine_warps<threads>(detail::warp_reduce<32>(value, reduction), reduction);
}

/// Returns the calling thread's element of the ends, which are fewer than a block's threads, if it is of block 0; else the
/// identity.
template <typename R, typename Ends>
__device__ typename R::Accumulator edge(const typename R::Element* in, std::size_t n, const Ends& split,
                                        const R& reduction) {
  if constexpr (!Ends::has_ends) return reduction.identity();
  const unsigned tid = threadIdx.x;
  const std::size_t i = tid < split.head ? tid : split.count * split.width + tid;
  return blockIdx.x == 0 && i < n ? reduction.element(in[i], i) : reduction.identity();
}

/// Returns the calling thread's part of the n elements at `in`, combined: `loads` vectors of every gridDim.x-th tile.
template <unsigned threads, bool wide, typename R>
__device__ typename R::Accumulator reduce_tiles(const typename R::Element* in, std::size_t n,
                                                const R& reduction) {
  using T = typename R::Element;
  using A = typename R::Accumulator;
  constexpr unsigned at_once = loads_of<T>;
  constexpr unsigned tile = threads * at_once;
  const Split<T, wide> split(in, n);
  A result = detail::edge(in, n, split, reduction);
  const std::size_t first = std::size_t{blockIdx.x} * tile;
  const Vector<T, wide>* from = split.vectors + first + threadIdx.x;
  auto left = static_cast<std::ptrdiff_t>(split.count - first);  // the same in all threads
  const std::size_t step = std::size_t{gridDim.x} * tile;
  const auto index = [&](unsigned k) {
    return split.index(static_cast<std::size_t>(from - split.vectors) + k * threads);
  };
  Vector<T, wide> loaded[at_once];  // all are under way before the first operation waits for one
#pragma unroll 1                    // with more, one has too few registers
  for (; left >= static_cast<std::ptrdiff_t>(tile); left -= static_cast<std::ptrdiff_t>(step), from += step) {
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      loaded[k] = from[k * threads];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      result = reduction.combined(result, reduction.combined(loaded[k], index(k)));
  }
  // The last tile may be incomplete.
  const auto has = [&](unsigned k) { return static_cast<std::ptrdiff_t>(threadIdx.x + k * threads) < left; };
#pragma unroll
  for (unsigned k = 0; k < at_once; ++k) {
    if (has(k)) loaded[k] = from[k * threads];
  }
#pragma unroll
  for (unsigned k = 0; k < at_once; ++k) {
    if (has(k)) result = reduction.combined(result, reduction.combined(loaded[k], index(k)));
  }
  return result;
}

/// Does the same with vectors that are one tile of the grid at most: shorter code is there sooner.
template <unsigned threads, typename R>
__device__ typename R::Accumulator reduce_tile(const typename R::Element* in, std::size_t n,
                                               const R& reduction) {
  using T = typename R::Element;
  using A = typename R::Accumulator;
  const Split<T, true> split(in, n);
  A result = detail::edge(in, n, split, reduction);
  const auto count = static_cast<unsigned>(split.count);
  if (count == 0) return result;
  const unsigned i = blockIdx.x * threads * loads + threadIdx.x;
  Vector<T, true> loaded[loads];
#pragma unroll
  for (unsigned k = 0; k < loads; ++k)  // without a condition, which would make one load wait for another
    loaded[k] = split.vectors[(::min)(i + k * threads, count - 1)];
#pragma unroll
  for (unsigned k = 0; k < loads; ++k) {
    if (i + k * threads < count)
      result = reduction.combined(result, reduction.combined(loaded[k], split.index(i + k * threads)));
  }
  return result;
}

/// The one of the two that fits the kernels of one block and of one cluster.
template <unsigned threads, bool wide, typename R>
__device__ typename R::Accumulator reduce_little(const typename R::Element* in, std::size_t n,
                                                 const R& reduction) {
  if constexpr (wide)
    return detail::reduce_tile<threads>(in, n, reduction);
  else
    return detail::reduce_tiles<threads, false>(in, n, reduction);
}

#if __CUDA_ARCH__ >= 900

inline constexpr unsigned bulk_tile = bulk_stage_bytes / 16;  ///< vectors

/// Returns the calling thread's part of the vectors from `first` to `end`, combined: of a tile after each `step` vectors.
/// They go through a ring of stages in shared memory: the TMA fills some while the threads read another.
///
/// - head: number of elements before the vectors.
/// - begin: called when copies are under way; returns what the thread's part begins with.
template <typename R, typename Begin>
__device__ typename R::Accumulator reduce_through_ring(const Vector<typename R::Element, true>* vectors,
                                                       std::size_t first, std::size_t end, std::size_t step,
                                                       std::size_t head, const Begin& begin,
                                                       const R& reduction) {
  using V = Vector<typename R::Element, true>;
  extern __shared__ __align__(128) unsigned char ring_bytes[];
  auto* const ring = reinterpret_cast<V*>(ring_bytes);
  __shared__ CopyBarrier filled[bulk_stages];
  const unsigned tid = threadIdx.x;
  const auto vectors_of = [&](std::size_t tile) {
    return static_cast<unsigned>(end - tile < bulk_tile ? end - tile : bulk_tile);
  };
  const auto fetch = [&](std::size_t tile, unsigned stage) {
    if (tile < end)
      detail::bulk_copy(ring + stage * bulk_tile, vectors + tile, vectors_of(tile) * 16, filled[stage]);
  };

  if (tid == 0) {
    for (unsigned stage = 0; stage < bulk_stages; ++stage)
      detail::make_barrier(filled[stage]);
    detail::show_barriers_to_tma();
    for (unsigned stage = 0; stage < bulk_stages; ++stage)
      fetch(first + stage * step, stage);
  }
  __syncthreads();
  auto result = begin();
  unsigned stage = 0;
  unsigned parity = 0;
  for (; first < end; first += step) {
    detail::wait_for_turn(filled[stage], parity);
    const unsigned count = vectors_of(first);
#pragma unroll 4
    for (unsigned k = tid; k < count; k += bulk_block) {
      const V loaded = ring[stage * bulk_tile + k];
      result = reduction.combined(result, reduction.combined(loaded, head + (first + k) * V::width));
    }
    __syncthreads();  // all threads have read the stage: it may be filled again
    if (tid == 0) fetch(first + bulk_stages * step, stage);
    if (++stage == bulk_stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  return result;
}

#endif

/// Returns partial results `first`, `first + step`, ... before `end`, combined; `at_once` of them are under way.
template <unsigned at_once, unsigned step, typename R>
__device__ typename R::Accumulator combine_results(const typename R::Accumulator* partial, unsigned first,
                                                   unsigned end, const R& reduction) {
  using A = typename R::Accumulator;
  A result = reduction.identity();
  for (unsigned i = first; i < end; i += at_once * step) {
    A loaded[at_once];  // all are under way before the first operation waits for one
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      loaded[k] = i + k * step < end ? partial[i + k * step] : reduction.identity();
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)
      result = reduction.combined(result, loaded[k]);
  }
  return result;
}

/// Writes the result of n elements.
template <typename R, typename Out>
__device__ void write_result(typename R::Accumulator value, const R& reduction,
                             const Init<typename R::Accumulator>& init, std::size_t n, Out* out) {
  if (n == 0)
    value = init.given ? init.value : reduction.of_nothing();
  else if (init.given)
    value = reduction.combined(init.value, value);
  *out = traits::converted<Out>(value);
}

// ---- the kernels ----

/// One block combines the n elements at `in` into *out.
template <unsigned threads, bool wide, typename R, typename Out>
__global__ void __launch_bounds__(threads)
    one_block_kernel(const typename R::Element* in, Out* out, std::size_t n, R reduction,
                     Init<typename R::Accumulator> init) {
  auto result = detail::reduce_little<threads, wide>(in, n, reduction);
  result = detail::block_reduce<threads>(result, reduction);
  if (threadIdx.x == 0) detail::write_result(result, reduction, init, n, out);
}

/// Does the same with the blocks of one cluster, which can write to each other's shared memory.
template <bool wide, typename R, typename Out>
__global__ void __launch_bounds__(block)
    cluster_kernel([[maybe_unused]] const typename R::Element* in, [[maybe_unused]] Out* out,
                   [[maybe_unused]] std::size_t n, [[maybe_unused]] R reduction,
                   [[maybe_unused]] Init<typename R::Accumulator> init) {
#if __CUDA_ARCH__ >= 900
  using A = typename R::Accumulator;
  __shared__ alignas(16) unsigned char bytes[cluster_blocks * sizeof(A)];
  A* const partial = reinterpret_cast<A*>(bytes);
  const unsigned tid = threadIdx.x;
  detail::arrive_at_cluster_barrier();
  A result = detail::reduce_little<block, wide>(in, n, reduction);
  result = detail::block_reduce<block>(result, reduction);
  detail::wait_at_cluster_barrier();  // a block that has not started has no shared memory yet
  if (tid == 0) detail::in_first_block(partial)[detail::block_in_cluster()] = result;
  detail::arrive_at_cluster_barrier();
  detail::wait_at_cluster_barrier();
  if (detail::block_in_cluster() != 0 || tid >= 32) return;
  result = tid < cluster_blocks ? partial[tid] : reduction.identity();
  result = detail::warp_reduce<cluster_blocks>(result, reduction);
  if (tid == 0) detail::write_result(result, reduction, init, n, out);
#else
  __trap();
#endif
}

/// Each block combines its share of the n elements at `in` into partial[blockIdx.x].
template <bool wide, typename R>
__global__ void __launch_bounds__(block, least_resident_blocks<R>)
    reduce_kernel(const typename R::Element* in, typename R::Accumulator* partial, std::size_t n,
                  R reduction) {
  auto result = detail::reduce_tiles<block, wide>(in, n, reduction);
  result = detail::block_reduce<block>(result, reduction);
#if __CUDA_ARCH__ >= 900
  detail::let_next_kernel_start();  // it waits for this one's end
#endif
  if (threadIdx.x == 0) partial[blockIdx.x] = result;
}

/// Does the same through reduce_through_ring().
template <typename R>
__global__ void __launch_bounds__(bulk_block)
    bulk_kernel([[maybe_unused]] const typename R::Element* in,
                [[maybe_unused]] typename R::Accumulator* partial, [[maybe_unused]] std::size_t n,
                [[maybe_unused]] R reduction) {
#if __CUDA_ARCH__ >= 900
  const Split<typename R::Element, true, bulk_alignment> split(in, n);
  const auto ends = [&] { return detail::edge(in, n, split, reduction); };
  auto result = detail::reduce_through_ring(split.vectors, std::size_t{blockIdx.x} * bulk_tile, split.count,
                                            std::size_t{gridDim.x} * bulk_tile, split.head, ends, reduction);
  result = detail::block_reduce<bulk_block>(result, reduction);
  detail::let_next_kernel_start();
  if (threadIdx.x == 0) partial[blockIdx.x] = result;
#else
  __trap();
#endif
}

/// One block combines the `count` partial results of n elements into *out.
template <unsigned threads, unsigned at_once, typename R, typename Out>
__global__ void __launch_bounds__(threads)
    combine_kernel(const typename R::Accumulator* partial, unsigned count, Out* out, std::size_t n,
                   R reduction, Init<typename R::Accumulator> init) {
#if __CUDA_ARCH__ >= 900
  detail::wait_for_kernel_before();
#endif
  auto result = detail::combine_results<at_once, threads>(partial, threadIdx.x, count, reduction);
  result = detail::block_reduce<threads>(result, reduction);
  if (threadIdx.x == 0) detail::write_result(result, reduction, init, n, out);
}

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
