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
#include "input.cuh"
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
  value = detail::warp_reduce<32>(value, reduction);
  if constexpr (threads > 32) value = detail::combine_warps<threads>(value, reduction);
  return value;
}

/// Returns the calling thread's element of the ends, which are fewer than a warp's threads, if it has one; else the identity.
template <bool wide, typename R>
__device__ typename R::Accumulator edge(const Split<typename R::Element, wide>& split, const R& reduction) {
  const unsigned tid = threadIdx.x;
  if (tid >= split.ends) return reduction.identity();
  const std::size_t i = tid < split.head ? tid : split.n - split.ends + tid;
  return reduction.element(split.in[i], i);
}

/// Returns `result` combined with the calling thread's part of a tile: of `count` vectors from number `first` on. A whole
/// tile has all that its threads can take.
template <unsigned threads, bool whole, bool wide, typename R>
__device__ typename R::Accumulator combine_tile(typename R::Accumulator result,
                                                const Split<typename R::Element, wide>& split,
                                                std::size_t first, unsigned count, const R& reduction) {
  constexpr unsigned at_once = loads_of<typename R::Element>;
  const unsigned tid = threadIdx.x;
  // All are under way before the first operation waits for one; a condition would make one load wait for another.
  Vector<typename R::Element, wide> loaded[at_once];
#pragma unroll
  for (unsigned k = 0; k < at_once; ++k)
    loaded[k] = split.load(first + (whole ? tid + k * threads : (::min)(tid + k * threads, count - 1)));
#pragma unroll
  for (unsigned k = 0; k < at_once; ++k) {
    const unsigned i = tid + k * threads;
    if (whole || i < count)
      result = reduction.combined(result, reduction.combined(loaded[k], split.index(first + i)));
  }
  return result;
}

/// Calls finish(result) in all threads; in thread 0 the result is that of the block's tile, and in the first block of the
/// ends, too. The threads take it in `rounds` parts. Most blocks have a whole tile, and what these run stands together: short
/// code is there soon.
template <unsigned threads, unsigned rounds, bool wide, typename R, typename Finish>
__device__ void reduce_tile(const Split<typename R::Element, wide>& split, const R& reduction,
                            const Finish& finish) {
  constexpr unsigned at_once = threads * loads_of<typename R::Element>;
  std::size_t first = std::size_t{blockIdx.x} * rounds * at_once;
  const std::size_t end = first + rounds * at_once;
  const bool has_ends = blockIdx.x == 0 && split.ends > 0;
  auto result = reduction.identity();
  if (has_ends || end > split.count) {
    if (has_ends) result = detail::edge(split, reduction);
#pragma unroll 1
    for (; first < (::min)(end, split.count); first += at_once) {
      const auto count = static_cast<unsigned>((::min)(split.count - first, std::size_t{at_once}));
      result = detail::combine_tile<threads, false>(result, split, first, count, reduction);
    }
    finish(detail::block_reduce<threads>(result, reduction));
    return;
  }
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round, first += at_once)
    result = detail::combine_tile<threads, true>(result, split, first, at_once, reduction);
  finish(detail::block_reduce<threads>(result, reduction));
}

/// Returns partial results `first`, `first + step`, ... before `end`, combined.
template <unsigned step, typename R>
__device__ typename R::Accumulator combine_results(const typename R::Accumulator* partial, unsigned first,
                                                   unsigned end, const R& reduction) {
  using A = typename R::Accumulator;
  constexpr unsigned at_once = combine_loads<A>;
  A result = reduction.identity();
  for (unsigned i = first; i < end; i += at_once * step) {
    A loaded[at_once];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k)  // as in combine_tile()
      loaded[k] = partial[(::min)(i + k * step, end - 1)];
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      if (i + k * step < end) result = reduction.combined(result, loaded[k]);
    }
  }
  return result;
}

/// Writes the result of elements, or of none.
template <typename R, typename Out>
__device__ void write_result(typename R::Accumulator value, bool of_none, const R& reduction,
                             const Init<typename R::Accumulator>& init, Out* out) {
  if (of_none)
    value = init.given ? init.value : reduction.of_nothing();
  else if (init.given)
    value = reduction.combined(init.value, value);
  *out = traits::converted<Out>(value);
}

// ---- the kernels ----

/// One block combines the elements of `input`, one tile at most, into *out.
template <unsigned threads, typename R, typename Input, typename Out>
__global__ void __launch_bounds__(threads)
    one_block_kernel(Input input, Out* out, R reduction, Init<typename R::Accumulator> init) {
  const auto split = input.split();
  detail::reduce_tile<threads, 1>(split, reduction, [&](const auto& result) {
    if (threadIdx.x == 0) detail::write_result(result, split.n == 0, reduction, init, out);
  });
}

/// Each block combines its tile of `input` into partial[blockIdx.x].
template <unsigned threads, unsigned rounds, typename R, typename Input>
__global__ void __launch_bounds__(threads, least_resident_blocks<R, threads>)
    reduce_kernel(Input input, typename R::Accumulator* partial, R reduction) {
  detail::reduce_tile<threads, rounds>(input.split(), reduction, [&](const auto& result) {
#if __CUDA_ARCH__ >= 900
    detail::let_next_kernel_start();  // it waits for this one's end
#endif
    if (threadIdx.x == 0) partial[blockIdx.x] = result;
  });
}

/// Each block combines its share of `count` partial results into combined[blockIdx.x].
template <unsigned threads, typename R>
__global__ void __launch_bounds__(threads)
    combine_shares_kernel(const typename R::Accumulator* partial, unsigned count,
                          typename R::Accumulator* combined, R reduction) {
#if __CUDA_ARCH__ >= 900
  detail::wait_for_kernel_before();
#endif
  const unsigned first = blockIdx.x * share;
  auto result = detail::combine_results<threads>(partial, first + threadIdx.x, (::min)(first + share, count),
                                                 reduction);
  result = detail::block_reduce<threads>(result, reduction);
#if __CUDA_ARCH__ >= 900
  detail::let_next_kernel_start();
#endif
  if (threadIdx.x == 0) combined[blockIdx.x] = result;
}

/// One block combines `count` partial results of n elements into *out.
template <unsigned threads, typename R, typename Count, typename Out>
__global__ void __launch_bounds__(threads)
    combine_kernel(const typename R::Accumulator* partial, unsigned count, Count n, Out* out, R reduction,
                   Init<typename R::Accumulator> init) {
#if __CUDA_ARCH__ >= 900
  detail::wait_for_kernel_before();
#endif
  const bool of_none = n.is_zero();
  auto result = detail::combine_results<threads>(partial, threadIdx.x, count, reduction);
  result = detail::block_reduce<threads>(result, reduction);
  if (threadIdx.x == 0) detail::write_result(result, of_none, reduction, init, out);
}

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
