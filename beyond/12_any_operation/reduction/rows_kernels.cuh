// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// The kernels of rows.cuh. R is a Reduction: what they do with the elements. Element i of row r is in[r * stride + i].

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "constants.cuh"
#include "elements.cuh"
#include "hopper.cuh"
#include "input.cuh"
#include "reduce_kernels.cuh"
#include "same_bits.cuh"
#include "version.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

/// What a call is about.
template <typename T> struct Matrix {
  const T* in;
  std::size_t rows;
  std::size_t width;
  std::size_t stride;
};

// ---- rows: each is one piece, or several ----

/// Returns, in the first of them, the combined values of blockDim.x neighbouring threads: a power of two, up to row_block. All
/// threads of the block must take part.
template <typename R>
__device__ typename R::Accumulator group_reduce(typename R::Accumulator value, const R& reduction) {
  using A = typename R::Accumulator;
  const auto reduce_lanes = [&](unsigned lanes) {
    for (unsigned stride = lanes / 2; stride > 0; stride /= 2)
      value = reduction.combined(value, detail::shuffle_down(value, stride));
  };
  if (blockDim.x <= 32) {
    reduce_lanes(blockDim.x);
    return value;
  }
  __shared__ alignas(16) unsigned char bytes[row_block / 32 * sizeof(A)];
  const unsigned tid = threadIdx.x;
  const unsigned warps = blockDim.x / 32;
  A* const shared = reinterpret_cast<A*>(bytes) + threadIdx.y * warps;
  reduce_lanes(32);
  if (tid % 32 == 0) shared[tid / 32] = value;
  __syncthreads();
  if (tid < 32) {
    value = tid < warps ? shared[tid] : reduction.identity();
    reduce_lanes(warps);
  }
  return value;
}

/// The elements of a row before its first vector and after its last.
struct Edges {
  unsigned head;   ///< number of those before
  unsigned count;  ///< number of both
  unsigned n;      ///< number of all elements
  __device__ unsigned place(unsigned k) const { return k < head ? k : n - count + k; }
};

/// The rows in the fastest order. Vectors are taken where they are: those of a row may begin anywhere, if it has edges.
template <typename T, bool wide, bool has_edges> struct RowPieces {
  Matrix<T> matrix;
  std::size_t each;  ///< elements of a piece; a row's last may have fewer
  unsigned per_row;

  /// Returns the calling thread's part of a piece, combined; blockDim.x threads share it.
  template <typename R>
  __device__ typename R::Accumulator reduce(std::size_t piece, const R& reduction) const {
    constexpr unsigned width = Vector<T, wide>::width;
    constexpr unsigned at_once = loads_of<T>;
    const std::size_t row = per_row == 1 ? piece : piece / per_row;
    const std::size_t first = (piece - row * per_row) * each;
    const T* in = matrix.in + row * matrix.stride + first;
    const auto n = static_cast<unsigned>((::min)(each, matrix.width - first));
    const unsigned threads = blockDim.x;
    const unsigned thread = threadIdx.x;
    const unsigned head = has_edges ? (::min)(detail::head_of(in), n) : 0;
    const unsigned count = (n - head) / width;
    [[maybe_unused]] const Edges edges{head, n - count * width, n};
    [[maybe_unused]] T first_edge{};
    if constexpr (has_edges) {
      if (thread < edges.count) first_edge = in[edges.place(thread)];  // it is under way while vectors are
    }

    // Of two threads each has neighbouring vectors: every second would be one sector of each row, and twice the requests.
    const unsigned step = threads <= 2 ? 1 : threads;
    unsigned i = threads <= 2 ? at_once * thread : thread;
    auto result = reduction.identity();
    Vector<T, wide> loaded[at_once];
    const auto load = [&](unsigned vector) { return detail::load<wide>(in + head + vector * width); };
    const auto combine = [&](unsigned k) {
      const std::size_t index = first + head + (i + k * step) * width;
      result = reduction.combined(result, reduction.combined(loaded[k], index));
    };
    unsigned end = at_once * threads;  // of what all threads take at a time
#pragma unroll 1
    for (; end <= count; end += at_once * threads, i += at_once * threads) {
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)  // all are under way before the first operation waits for one
        loaded[k] = load(i + k * step);
#pragma unroll
      for (unsigned k = 0; k < at_once; ++k)
        combine(k);
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      if (i + k * step < count) loaded[k] = load(i + k * step);
    }
#pragma unroll
    for (unsigned k = 0; k < at_once; ++k) {
      if (i + k * step < count) combine(k);
    }

    if constexpr (has_edges) {
      if (thread < edges.count)
        result = reduction.combined(result, reduction.element(first_edge, first + edges.place(thread)));
      for (unsigned k = thread + threads; k < edges.count; k += threads)
        result = reduction.combined(result, reduction.element(in[edges.place(k)], first + edges.place(k)));
    }
    return result;
  }
};

/// The rows in the order of SameBits: each has the chunks that reduce() would divide it into.
template <typename T, bool aligned> struct RowChunks {
  Matrix<T> matrix;
  Chunks chunks;
  unsigned per_row;

  template <typename R>
  __device__ typename R::Accumulator reduce(std::size_t piece, const R& reduction) const {
    const std::size_t row = per_row == 1 ? piece : piece / per_row;
    return detail::reduce_chunk<aligned>(matrix.in + row * matrix.stride, chunks,
                                         static_cast<unsigned>(piece - row * per_row), reduction);
  }
};

/// Where these are in their way take more registers than a thread has where a multiprocessor is full.
template <typename Pieces, typename R>
inline constexpr unsigned least_resident_row_blocks = (least_resident_blocks<R, row_block> * 3 + 3) / 4;
template <typename T, bool aligned, typename R>
inline constexpr unsigned least_resident_row_blocks<RowChunks<T, aligned>, R> =
    least_resident_chunk_blocks<aligned, R>;

/// Each group of blockDim.x threads combines a piece: into out[row] where it is a row, else into partial[piece].
template <typename R, typename Pieces, typename Out>
__global__ void __launch_bounds__(row_block, least_resident_row_blocks<Pieces, R>)
    rows_kernel(Pieces pieces, typename R::Accumulator* partial, Out* out, R reduction,
                Init<typename R::Accumulator> init) {
  const std::size_t piece = std::size_t{blockIdx.x} * blockDim.y + threadIdx.y;
  const bool exists = piece < pieces.matrix.rows * pieces.per_row;
  auto result = reduction.identity();
  if (exists) result = pieces.reduce(piece, reduction);
  result = detail::group_reduce(result, reduction);
#if __CUDA_ARCH__ >= 900
  detail::let_next_kernel_start();  // it waits for this one's end
#endif
  if (threadIdx.x != 0 || !exists) return;
  if (partial == nullptr)
    detail::write_result(result, pieces.matrix.width == 0, reduction, init, out + piece);
  else
    partial[piece] = result;
}

/// Each thread combines rows that are `vectors` vectors each, all at multiples of 16 bytes: so short ones that where they are
/// takes longer to compute than what they hold.
template <unsigned vectors, typename R, typename Out>
__global__ void __launch_bounds__(small_row_block)
    short_rows_kernel(Matrix<typename R::Element> matrix, Out* out, R reduction,
                      Init<typename R::Accumulator> init) {
  using T = typename R::Element;
  using V = Vector<T, true>;
  constexpr unsigned each = loads / vectors;
  const std::size_t first = std::size_t{blockIdx.x} * each * small_row_block + threadIdx.x;
  V loaded[each][vectors];
#pragma unroll
  for (unsigned k = 0; k < each; ++k) {
    const std::size_t row = (::min)(first + k * small_row_block, matrix.rows - 1);
#pragma unroll
    for (unsigned v = 0; v < vectors; ++v)
      loaded[k][v] = detail::load<true>(matrix.in + row * matrix.stride + v * V::width);
  }
#pragma unroll
  for (unsigned k = 0; k < each; ++k) {
    const std::size_t row = first + k * small_row_block;
    if (row >= matrix.rows) return;
    auto result = reduction.identity();  // a NaN is passed over, also where there is nothing else
#pragma unroll
    for (unsigned v = 0; v < vectors; ++v)
      result = reduction.combined(result, reduction.combined(loaded[k][v], v * V::width));
    detail::write_result(result, false, reduction, init, out + row);
  }
}

/// Each block combines the results of a row's pieces into out[row], in the order of combine_chunks_kernel. There may be as many
/// warps as have some.
template <typename R, typename Out>
__global__ void __launch_bounds__(chunk_combine_block)
    combine_pieces_kernel(const typename R::Accumulator* partial, unsigned per_row, Out* out, R reduction,
                          Init<typename R::Accumulator> init) {
#if __CUDA_ARCH__ >= 900
  detail::wait_for_kernel_before();
#endif
  const ChunkRange pieces = detail::chunks_of_warp(per_row);
  auto result = detail::combine_results<32>(partial + std::size_t{blockIdx.x} * per_row,
                                            pieces.first + threadIdx.x % 32, pieces.end, reduction);
  result = detail::group_reduce(result, reduction);
  if (threadIdx.x == 0) detail::write_result(result, false, reduction, init, out + blockIdx.x);
}

// ---- columns ----

/// Neighbouring elements that one load brings.
template <typename T, unsigned count> struct Neighbours {
  using Word = std::conditional_t<
      count * sizeof(T) == 16, uint4,
      std::conditional_t<count * sizeof(T) == 8, uint2,
                         std::conditional_t<count * sizeof(T) == 4, std::uint32_t, std::uint16_t>>>;
  T elements[count];

  /// Loads those at `from`, and does not read beyond the first `left`, of which there is one at least.
  __device__ void load(const T* from, std::size_t left) {
    if constexpr (count == 1) {
      elements[0] = *from;
    } else if (left >= count) {
      const Word word = *reinterpret_cast<const Word*>(from);
      std::memcpy(static_cast<void*>(elements), &word, sizeof(elements));
    } else {
#pragma unroll
      for (unsigned k = 0; k < count; ++k)
        elements[k] = from[k < left ? k : 0];
    }
  }
};

/// Combines what the threads of a tile have of each column, in those of its first row.
template <unsigned each, typename R>
__device__ void combine_column_tile(typename R::Accumulator (&results)[each], const R& reduction) {
  using A = typename R::Accumulator;
  __shared__ alignas(16) unsigned char bytes[each * column_block<A> * sizeof(A)];
  const auto at = [&](unsigned k, unsigned y) -> A& {
    return reinterpret_cast<A*>(bytes)[(k * blockDim.y + y) * blockDim.x + threadIdx.x];
  };
  const unsigned y = threadIdx.y;
#pragma unroll
  for (unsigned k = 0; k < each; ++k)
    at(k, y) = results[k];
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (y >= half) continue;
#pragma unroll
    for (unsigned k = 0; k < each; ++k) {
      results[k] = reduction.combined(results[k], at(k, y + half));
      at(k, y) = results[k];
    }
  }
}

/// Each thread combines `each` neighbouring columns of every gridDim.y-th tile of blockDim.y rows. A block's result of a column
/// goes into out[column] if there is one block for it, else into partial[blockIdx.y * width + column].
template <unsigned each, typename R, typename Out>
__global__ void __launch_bounds__(column_block<typename R::Accumulator>)
    columns_kernel(Matrix<typename R::Element> matrix, typename R::Accumulator* partial, Out* out,
                   R reduction, Init<typename R::Accumulator> init) {
  using T = typename R::Element;
#if __CUDA_ARCH__ >= 900
  detail::wait_for_kernel_before();
#endif
  const std::size_t column = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * each;
  typename R::Accumulator results[each];
#pragma unroll
  for (unsigned k = 0; k < each; ++k)
    results[k] = reduction.identity();
  if (column < matrix.width) {
    constexpr unsigned at_once = rows_at_once<each * sizeof(T)>;
    const std::size_t step = std::size_t{gridDim.y} * blockDim.y;
#pragma unroll 1
    for (std::size_t row = std::size_t{blockIdx.y} * blockDim.y + threadIdx.y; row < matrix.rows;
         row += at_once * step) {
      Neighbours<T, each> loaded[at_once];
#pragma unroll
      for (unsigned l = 0; l < at_once; ++l)
        loaded[l].load(matrix.in + (::min)(row + l * step, matrix.rows - 1) * matrix.stride + column,
                       matrix.width - column);
#pragma unroll
      for (unsigned l = 0; l < at_once; ++l) {
        if (row + l * step >= matrix.rows) continue;
#pragma unroll
        for (unsigned k = 0; k < each; ++k)
          results[k] =
              reduction.combined(results[k], reduction.element(loaded[l].elements[k], row + l * step));
      }
    }
  }
  detail::combine_column_tile(results, reduction);
#if __CUDA_ARCH__ >= 900
  detail::let_next_kernel_start();
#endif
  if (threadIdx.y > 0) return;
#pragma unroll
  for (unsigned k = 0; k < each; ++k) {
    if (column + k >= matrix.width) continue;
    if (partial == nullptr)
      detail::write_result(results[k], matrix.rows == 0, reduction, init, out + column + k);
    else
      partial[blockIdx.y * matrix.width + column + k] = results[k];
  }
}

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
