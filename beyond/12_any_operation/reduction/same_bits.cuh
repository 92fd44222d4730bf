// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// The kernels of SameBits: one order of the elements, which n and the size of an element alone determine.
///
/// Elements are taken in vectors by their index, whatever address they have: `width` elements of 16 bytes, or one that
/// fits no vector. Consecutive vectors are a tile, consecutive tiles a chunk, at most 8192 chunks the input. Within a chunk
/// thread t of 512 combines vectors t, t + 512, t + 1024, ..., each of them in itself first; then the threads' results are
/// combined by a tree over the lanes and one over the warps. Each chunk has a block of its own, and it does not matter when
/// or where that runs, nor how it loads. One block combines the results of the chunks: each of its warps has neighbouring ones.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "constants.cuh"
#include "elements.cuh"
#include "hopper.cuh"
#include "input.cuh"
#include "reduce_kernels.cuh"
#include "version.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

template <typename T> inline constexpr unsigned tile_vectors = chunk_block* loads_of<T>;

/// The vectors of SameBits.
template <typename T> using IndexedVector = Vector<T, can_be_wide<T>>;

__host__ __device__ inline std::size_t parts(std::size_t all, std::size_t part) {
  return all / part + (all % part != 0);
}

template <typename T> __host__ __device__ std::size_t tiles_of(std::size_t n) {
  return detail::parts(detail::parts(n, IndexedVector<T>::width), tile_vectors<T>);
}

/// How n elements are divided.
struct Chunks {
  std::size_t n;
  unsigned count;     ///< number of chunks
  std::size_t whole;  ///< number of whole vectors
  unsigned each;      ///< vectors per chunk; the last may have fewer

  unsigned most() const { return count; }
  __device__ const Chunks& chunks() const { return *this; }
};

template <typename T> __host__ __device__ Chunks chunks_of(std::size_t n) {
  const std::size_t tiles = detail::tiles_of<T>(n);
  const std::size_t each = detail::parts(tiles, most_chunks);
  return {n, static_cast<unsigned>(each == 0 ? 0 : detail::parts(tiles, each)), n / IndexedVector<T>::width,
          static_cast<unsigned>(each * tile_vectors<T>)};
}

/// What Chunks are, of a number of elements that the device knows.
template <typename T, typename Integer> struct ChunksOnDevice {
  DeviceCount<Integer> n;
  /// Fewer elements than the capacity may be more chunks, but no more than tiles.
  unsigned most() const {
    const std::size_t tiles = detail::tiles_of<T>(n.n.capacity);
    return tiles < most_chunks ? static_cast<unsigned>(tiles) : most_chunks;
  }
  __device__ Chunks chunks() const { return detail::chunks_of<T>(n.value()); }
};

/// Returns the 16 bytes that begin `past` bytes after `low` does and end in `high`; `unit` is what `past` is a multiple of.
template <unsigned unit> __device__ uint4 across(const uint4& low, const uint4& high, unsigned past) {
  std::uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (unsigned k = 0; k < 6; ++k)
    words[k] = past & 8 ? words[k + 2] : words[k];
#pragma unroll
  for (unsigned k = 0; k < 5; ++k)
    words[k] = past & 4 ? words[k + 1] : words[k];
  if constexpr (unit < 4) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      words[k] = __funnelshift_r(words[k], words[k + 1], past % 4 * 8);
  }
  return {words[0], words[1], words[2], words[3]};
}

/// What a thread loads of a tile: vectors that are `chunk_block` apart.
template <bool aligned, typename R> struct Tile {
  using T = typename R::Element;
  using A = typename R::Accumulator;
  static constexpr unsigned width = IndexedVector<T>::width;
  static constexpr unsigned count = loads_of<T>;
  IndexedVector<T> loaded[count];

  /// Loads a whole tile from `from`, the thread's first element. There are vectors before it and after it.
  __device__ void load(const Where<T>& from) {
    if constexpr (aligned) {
#pragma unroll
      for (unsigned k = 0; k < count; ++k)  // all are under way before the first operation waits for one
        loaded[k] = detail::load<can_be_wide<T>>(from + k * chunk_block * width);
    } else if constexpr (is_two<T>) {
      load_some(from, count * chunk_block);
    } else {
      const unsigned past = reinterpret_cast<std::uintptr_t>(from) % 16;
      const auto* const vectors =
          reinterpret_cast<const uint4*>(reinterpret_cast<const unsigned char*>(from) - past);
      uint4 next[count];
#pragma unroll
      for (unsigned k = 0; k < count; ++k) {
        loaded[k].words = vectors[k * chunk_block];
        next[k] = vectors[k * chunk_block + 1];
      }
#pragma unroll
      for (unsigned k = 0; k < count; ++k)
        loaded[k].words = detail::across<alignof(T)>(loaded[k].words, next[k], past);
    }
  }

  /// Loads what there is of a tile of `vectors` vectors, without a look at what is beside them.
  __device__ void load_some(const Where<T>& from, unsigned vectors) {
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
      if (threadIdx.x + k * chunk_block >= vectors) continue;
      const Where<T> first = from + k * chunk_block * width;
      if constexpr (aligned) {
        loaded[k] = detail::load<can_be_wide<T>>(first);
      } else {
        T elements[width];
#pragma unroll
        for (unsigned e = 0; e < width; ++e)
          elements[e] = first[e];
        loaded[k].pack(elements);
      }
    }
  }

  /// Returns `result` combined with what has been loaded; `index` is that of the thread's first element.
  __device__ A combined(A result, unsigned vectors, std::size_t index, const R& reduction) const {
#pragma unroll
    for (unsigned k = 0; k < count; ++k) {
      if (threadIdx.x + k * chunk_block < vectors)
        result = reduction.combined(result, reduction.combined(loaded[k], index + k * chunk_block * width));
    }
    return result;
  }
};

/// Returns `result` combined with the elements after the last whole vector, in the thread that would have the next one.
template <typename R>
__device__ typename R::Accumulator with_rest(typename R::Accumulator result,
                                             const Where<typename R::Element>& in, const Chunks& chunks,
                                             unsigned chunk, const R& reduction) {
  constexpr unsigned width = IndexedVector<typename R::Element>::width;
  std::size_t i = chunks.whole * width;
  if (width == 1 || i == chunks.n || chunk + 1 != chunks.count || chunks.whole % chunk_block != threadIdx.x)
    return result;
  auto rest = reduction.element(in[i], i);
  for (++i; i < chunks.n; ++i)
    rest = reduction.combined(rest, reduction.element(in[i], i));
  return reduction.combined(result, rest);
}

/// What lies across two vectors takes the registers of both.
template <bool aligned, typename R>
inline constexpr unsigned least_resident_chunk_blocks = aligned
                                                            ? least_resident_blocks<R, chunk_block>
                                                            : (least_resident_blocks<R, chunk_block> + 1) / 2;

/// Returns the calling thread's part of a chunk, combined. Where no thread has more than one vector, a block may have as few
/// threads as there are vectors.
template <bool aligned, typename R>
__device__ typename R::Accumulator reduce_chunk(const Where<typename R::Element>& in, const Chunks& chunks,
                                                unsigned chunk, const R& reduction) {
  using T = typename R::Element;
  constexpr unsigned width = IndexedVector<T>::width;
  constexpr unsigned tile_size = tile_vectors<T>;
  const std::size_t first = std::size_t{chunk} * chunks.each;
  const std::size_t to_end = chunks.whole - first;
  unsigned left = to_end < chunks.each ? static_cast<unsigned>(to_end) : chunks.each;
  Where<T> from = in + (first + threadIdx.x) * width;
  auto result = reduction.identity();
  Tile<aligned, R> tile;
  const auto combine_some = [&](unsigned vectors) {
    tile.load_some(from, vectors);
    result = tile.combined(result, vectors, static_cast<std::size_t>(from - in), reduction);
    from = from + tile_size * width;
    left -= vectors;
  };
  // Where nothing is aligned, whole tiles are loaded with what borders on them.
  if (!aligned && first == 0) combine_some((::min)(left, tile_size));
  const unsigned least = !aligned && to_end <= chunks.each ? tile_size + 1 : tile_size;
#pragma unroll 1
  for (; left >= least; left -= tile_size, from = from + tile_size * width) {
    tile.load(from);
    result = tile.combined(result, tile_size, static_cast<std::size_t>(from - in), reduction);
  }
  combine_some(left);
  return detail::with_rest(result, in, chunks, chunk, reduction);
}

#if __CUDA_ARCH__ >= 900

/// Returns the calling thread's part of the vectors from `first` to `end`, combined. They go through a ring of stages in
/// shared memory: the TMA fills some while the threads read another.
template <typename R>
__device__ typename R::Accumulator reduce_through_ring(const Vector<typename R::Element, true>* vectors,
                                                       std::size_t first, std::size_t end,
                                                       const R& reduction) {
  using V = Vector<typename R::Element, true>;
  constexpr unsigned tile = bulk_stage_bytes / 16;
  extern __shared__ __align__(128) unsigned char ring_bytes[];
  auto* const ring = reinterpret_cast<V*>(ring_bytes);
  __shared__ CopyBarrier filled[bulk_stages];
  const unsigned tid = threadIdx.x;
  const auto vectors_of = [&](std::size_t from) {
    return static_cast<unsigned>(end - from < tile ? end - from : tile);
  };
  const auto fetch = [&](std::size_t from, unsigned stage) {
    if (from < end)
      detail::bulk_copy(ring + stage * tile, vectors + from, vectors_of(from) * 16, filled[stage]);
  };

  if (tid == 0) {
    for (unsigned stage = 0; stage < bulk_stages; ++stage)
      detail::make_barrier(filled[stage]);
    detail::show_barriers_to_tma();
    for (unsigned stage = 0; stage < bulk_stages; ++stage)
      fetch(first + stage * tile, stage);
  }
  __syncthreads();
  auto result = reduction.identity();
  unsigned stage = 0;
  unsigned parity = 0;
  for (; first < end; first += tile) {
    detail::wait_for_turn(filled[stage], parity);
    const unsigned count = vectors_of(first);
#pragma unroll 4
    for (unsigned k = tid; k < count; k += chunk_block) {
      const V loaded = ring[stage * tile + k];
      result = reduction.combined(result, reduction.combined(loaded, (first + k) * V::width));
    }
    __syncthreads();  // all threads have read the stage: it may be filled again
    if (tid == 0) fetch(first + bulk_stages * tile, stage);
    if (++stage == bulk_stages) {
      stage = 0;
      parity ^= 1;
    }
  }
  return result;
}

#endif

// ---- the kernels ----

/// One block combines the elements of the only chunk, or none, into *out.
template <bool aligned, typename R, typename Division, typename Out>
__global__ void __launch_bounds__(chunk_block)
    one_chunk_kernel(Where<typename R::Element> in, Division division, Out* out, R reduction,
                     Init<typename R::Accumulator> init) {
  const Chunks chunks = division.chunks();
  auto result = detail::reduce_chunk<aligned>(in, chunks, blockIdx.x, reduction);
  result = detail::block_reduce<chunk_block>(result, reduction);
  if (threadIdx.x == 0) detail::write_result(result, chunks.n == 0, reduction, init, out);
}

/// Each block combines one chunk of the elements at `in` into partial[blockIdx.x].
template <bool aligned, typename R, typename Division>
__global__ void __launch_bounds__(chunk_block, least_resident_chunk_blocks<aligned, R>)
    chunk_kernel(Where<typename R::Element> in, Division division, typename R::Accumulator* partial,
                 R reduction) {
  const Chunks chunks = division.chunks();
  if (blockIdx.x >= chunks.count) return;
  auto result = detail::reduce_chunk<aligned>(in, chunks, blockIdx.x, reduction);
  result = detail::block_reduce<chunk_block>(result, reduction);
#if __CUDA_ARCH__ >= 900
  detail::let_next_kernel_start();  // it waits for this one's end
#endif
  if (threadIdx.x == 0) partial[blockIdx.x] = result;
}

/// Does the same through reduce_through_ring(), from an input at a multiple of bulk_alignment bytes.
template <typename R, typename Division>
__global__ void __launch_bounds__(chunk_block)
    bulk_chunk_kernel([[maybe_unused]] const typename R::Element* in, [[maybe_unused]] Division division,
                      [[maybe_unused]] typename R::Accumulator* partial, [[maybe_unused]] R reduction) {
#if __CUDA_ARCH__ >= 900
  const Chunks chunks = division.chunks();
  if (blockIdx.x >= chunks.count) return;
  const auto* const vectors = reinterpret_cast<const IndexedVector<typename R::Element>*>(in);
  const std::size_t first = std::size_t{blockIdx.x} * chunks.each;
  const std::size_t end = (::min)(first + chunks.each, chunks.whole);
  auto result = detail::reduce_through_ring(vectors, first, end, reduction);
  result = detail::with_rest(result, in, chunks, blockIdx.x, reduction);
  result = detail::block_reduce<chunk_block>(result, reduction);
  detail::let_next_kernel_start();
  if (threadIdx.x == 0) partial[blockIdx.x] = result;
#else
  __trap();
#endif
}

/// Neighbouring chunks, from `first` to before `end`.
struct ChunkRange {
  unsigned first;
  unsigned end;
};

/// Returns which of the `count` chunks the calling warp combines the results of: a multiple of 32 per warp, but for the last
/// that has some. They are neighbours, so that they may all be those of one GPU (across.cuh).
__device__ inline ChunkRange chunks_of_warp(unsigned count) {
  const unsigned each = (count + chunk_combine_block - 1) / chunk_combine_block * 32;
  const unsigned first = (::min)(threadIdx.x / 32 * each, count);
  return {first, (::min)(first + each, count)};
}

/// One block combines the results of the chunks into *out.
template <typename R, typename Division, typename Out>
__global__ void __launch_bounds__(chunk_combine_block)
    combine_chunks_kernel(const typename R::Accumulator* partial, Division division, Out* out, R reduction,
                          Init<typename R::Accumulator> init) {
#if __CUDA_ARCH__ >= 900
  detail::wait_for_kernel_before();
#endif
  const Chunks all = division.chunks();
  const ChunkRange chunks = detail::chunks_of_warp(all.count);
  auto result = detail::combine_results<32>(partial, chunks.first + threadIdx.x % 32, chunks.end, reduction);
  result = detail::block_reduce<chunk_combine_block>(result, reduction);
  if (threadIdx.x == 0) detail::write_result(result, all.n == 0, reduction, init, out);
}

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
