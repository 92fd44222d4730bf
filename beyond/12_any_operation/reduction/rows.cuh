// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// reduce_rows() and reduce_columns(): one result for each row, or each column, of a matrix in device memory.
///
/// Up to 32 lanes of a warp share a short row, a block has a longer one; of very long ones, or where they are few, each block
/// takes a piece, and a second kernel combines these.

#include "reduce.cuh"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "constants.cuh"
#include "elements.cuh"
#include "input.cuh"
#include "launch.cuh"
#include "rows_kernels.cuh"
#include "same_bits.cuh"
#include "version.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

// ---- which kernels, and how many threads ----

/// Returns the least power of two that is `least` or more, at most `most`, which is one.
inline unsigned power_of_two(std::size_t least, unsigned most) {
  unsigned power = 1;
  while (power < least && power < most)
    power *= 2;
  return power;
}

template <typename T> bool all_begin_at_multiples_of(std::size_t bytes, const Matrix<T>& matrix) {
  return (reinterpret_cast<std::uintptr_t>(matrix.in) | matrix.stride * sizeof(T)) % bytes == 0;
}

/// Calls queue(partial) with room for `count` partial results from the stream's memory pool; with null if that is 0.
template <typename A, typename Queue>
cudaError_t with_partial_results(std::size_t count, cudaStream_t stream, const Queue& queue) {
  if (count == 0) return queue(static_cast<A*>(nullptr));
  void* storage = nullptr;
  cudaError_t status = ::cudaMallocAsync(&storage, count * sizeof(A), stream);
  if (status != cudaSuccess) return status;
  status = queue(static_cast<A*>(storage));
  const cudaError_t freed = ::cudaFreeAsync(storage, stream);
  return status != cudaSuccess ? status : freed;
}

/// Reduces rows in pieces, each of which `threads` threads share.
template <typename R, typename Pieces, typename Out>
cudaError_t run_rows(const Pieces& pieces, unsigned threads, Out* out, const R& reduction,
                     const Init<typename R::Accumulator>& init, cudaStream_t stream) {
  using A = typename R::Accumulator;
  const std::size_t rows = pieces.matrix.rows;
  const unsigned side_by_side = threads < small_row_block ? small_row_block / threads : 1;
  const std::size_t grid = detail::parts(rows * pieces.per_row, side_by_side);
  if (grid > INT32_MAX) return cudaErrorInvalidValue;  // more than a grid has
  const bool is_whole = pieces.per_row == 1;
  return detail::with_partial_results<A>(is_whole ? 0 : rows * pieces.per_row, stream, [&](A* partial) {
    cudaError_t status =
        detail::launch(rows_kernel<R, Pieces, Out>, static_cast<unsigned>(grid), {threads, side_by_side}, 0,
                       stream, nullptr, pieces, partial, out, reduction, init);
    if (is_whole || status != cudaSuccess) return status;
    bool launches_ahead = false;
    status = detail::is_for_hopper(launches_ahead, combine_pieces_kernel<R, Out>);
    if (status != cudaSuccess) return status;
    const cudaLaunchAttribute ahead = detail::launched_ahead();
    const unsigned threads_of_row =
        32 * detail::power_of_two(detail::parts(pieces.per_row, 32), chunk_combine_block / 32);
    return detail::launch(combine_pieces_kernel<R, Out>, static_cast<unsigned>(rows), threads_of_row, 0,
                          stream, launches_ahead ? &ahead : nullptr, partial, pieces.per_row, out, reduction,
                          init);
  });
}

/// Reduces rows of `vectors` vectors, whose elements are all in them.
template <unsigned vectors, typename R, typename Out>
cudaError_t run_short_rows(const Matrix<typename R::Element>& matrix, Out* out, const R& reduction,
                           const Init<typename R::Accumulator>& init, cudaStream_t stream) {
  const std::size_t grid = detail::parts(matrix.rows, loads / vectors * small_row_block);
  if (grid > INT32_MAX) return cudaErrorInvalidValue;
  return detail::launch(short_rows_kernel<vectors, R, Out>, static_cast<unsigned>(grid), small_row_block, 0,
                        stream, nullptr, matrix, out, reduction, init);
}

/// In the fastest order.
template <bool wide, bool has_edges, typename R, typename Out>
cudaError_t reduce_pieces(const Matrix<typename R::Element>& matrix, Out* out, const R& reduction,
                          const Init<typename R::Accumulator>& init, cudaStream_t stream) {
  using T = typename R::Element;
  constexpr std::size_t width = Vector<T, wide>::width;
  constexpr std::size_t tile = row_block * loads_of<T>;
  using A = typename R::Accumulator;
  constexpr bool is_quick = std::is_arithmetic_v<A> || traits::is_small_float<A>;
  const std::size_t vectors = detail::parts(matrix.width, width);
  if constexpr (wide && !has_edges) {
    if (vectors == 1) return detail::run_short_rows<1>(matrix, out, reduction, init, stream);
    if (vectors == 2) return detail::run_short_rows<2>(matrix, out, reduction, init, stream);
    if (vectors == 4) return detail::run_short_rows<4>(matrix, out, reduction, init, stream);
  }
  const bool are_few = matrix.rows < many_rows;
  if (vectors > (are_few ? tile : tile * most_row_tiles)) {
    const std::size_t tiles = detail::parts(vectors, tile);
    const bool are_many = matrix.rows * tiles >= many_row_tiles;
    const std::size_t each = is_quick || !are_many ? tile : tile * piece_tiles;
    const std::size_t per_row = detail::parts(vectors, each);
    if (per_row > INT32_MAX) return cudaErrorInvalidValue;
    const RowPieces<T, wide, has_edges> pieces{matrix, each * width, static_cast<unsigned>(per_row)};
    return detail::run_rows(pieces, row_block, out, reduction, init, stream);
  }
  const RowPieces<T, wide, has_edges> rows{matrix, matrix.width, 1};
  const std::size_t each = is_quick || vectors <= short_row_vectors ? loads_of<T> : loads_of<T> * row_rounds;
  unsigned threads =
      detail::power_of_two(detail::parts(vectors, each), vectors < block_row_vectors ? 32 : row_block);
  // So few threads would leave the device empty.
  while (threads < row_block && threads < vectors && matrix.rows * threads < enough_row_threads)
    threads *= 2;
  return detail::run_rows(rows, threads, out, reduction, init, stream);
}

/// In the order of SameBits. Of a row with less than a vector for each of a block's threads, fewer take part.
template <bool aligned, typename R, typename Out>
cudaError_t reduce_row_chunks(const Matrix<typename R::Element>& matrix, Out* out, const R& reduction,
                              const Init<typename R::Accumulator>& init, cudaStream_t stream) {
  using T = typename R::Element;
  const Chunks chunks = detail::chunks_of<T>(matrix.width);
  const RowChunks<T, aligned> pieces{matrix, chunks, chunks.count > 1 ? chunks.count : 1};
  static_assert(row_block == chunk_block);
  const unsigned threads =
      detail::power_of_two(detail::parts(matrix.width, IndexedVector<T>::width), chunk_block);
  return detail::run_rows(pieces, threads, out, reduction, init, stream);
}

/// Returns how many blocks share a column: `enough` of them, where each has rows enough, and more if one had too many.
inline std::size_t column_parts(std::size_t rows, unsigned tile_rows, std::size_t enough) {
  const std::size_t most = detail::parts(rows, std::size_t{tile_rows} * least_column_rows);
  const std::size_t least = detail::parts(rows, most_part_rows);
  const std::size_t parts = most < enough ? most : enough;
  return rows == 0 ? 1 : parts < least ? least : parts;
}

/// Reduces columns, `each` of them per thread. The order depends on the number of rows, and in the fastest order on the width.
template <unsigned each, bool same_bits, typename R, typename Out>
cudaError_t run_columns(const Matrix<typename R::Element>& matrix, Out* out, const R& reduction,
                        const Init<typename R::Accumulator>& init, cudaStream_t stream) {
  using A = typename R::Accumulator;
  constexpr unsigned threads = column_block<A>;
  const auto tile_of = [&](unsigned of_thread) {
    const unsigned across = same_bits ? 32 : detail::power_of_two(detail::parts(matrix.width, of_thread), 32);
    return dim3(across, threads / across);
  };
  const dim3 tile = tile_of(each);
  const std::size_t across = detail::parts(matrix.width, std::size_t{tile.x} * each);
  if (across > INT32_MAX) return cudaErrorInvalidValue;
  const std::size_t enough = same_bits                             ? same_column_parts
                             : across >= wide_enough_column_blocks ? 1
                                                                   : enough_column_blocks / across;
  const auto down = static_cast<unsigned>(detail::column_parts(matrix.rows, tile.y, enough));
  return detail::with_partial_results<A>(down == 1 ? 0 : down * matrix.width, stream, [&](A* partial) {
    const dim3 grid(static_cast<unsigned>(across), down);
    cudaError_t status = detail::launch(columns_kernel<each, R, Out>, grid, tile, 0, stream, nullptr, matrix,
                                        partial, out, reduction, init);
    if (down == 1 || status != cudaSuccess) return status;
    const auto combines = detail::reduction_of<A, A>(reduction.operation, Itself{});
    const auto kernel = columns_kernel<1, std::decay_t<decltype(combines)>, Out>;
    bool launches_ahead = false;
    status = detail::is_for_hopper(launches_ahead, kernel);
    if (status != cudaSuccess) return status;
    const cudaLaunchAttribute ahead = detail::launched_ahead();
    const unsigned high = detail::power_of_two(detail::parts(down, loads), threads / 8);
    const dim3 lower(threads / high, high);
    return detail::launch(kernel, static_cast<unsigned>(detail::parts(matrix.width, lower.x)), lower, 0,
                          stream, launches_ahead ? &ahead : nullptr,
                          Matrix<A>{partial, down, matrix.width, matrix.width}, static_cast<A*>(nullptr), out,
                          combines, init);
  });
}

// ---- what a call is given ----

template <typename... Integers>
inline constexpr bool are_integers = (... &&
                                      (std::is_integral_v<Integers> && !std::is_same_v<Integers, bool>));

template <typename Integer> bool is_negative(Integer n) {
  if constexpr (std::is_signed_v<Integer>) return n < 0;
  return false;
}

/// A call for the rows of a matrix, or for its columns.
template <bool columns, typename Accumulator, typename T, typename Out, typename Rows, typename Width,
          typename Stride, typename Given, typename Transform, typename... Rest>
cudaError_t call_of_matrix(const T* in, Out* out, Rows rows, Width width, Stride stride, const Given& given,
                           const Transform& transform, const Rest&... rest) {
  const auto& operation = detail::inner(given);
  using Operation = std::decay_t<decltype(operation)>;
  using A = AccumulatorOf<Accumulator, Operation, Out>;
  if constexpr (!are_integers<Rows, Width, Stride>) {
    static_assert(never<A>, "reduction::reduce_rows: rows, width and stride have to be integers");
    return cudaErrorInvalidValue;
  } else if constexpr (!detail::is_right<A, T, Out, std::size_t, Operation, Transform, Rest...>()) {
    return cudaErrorInvalidValue;
  } else {
    if (detail::is_negative(rows) || detail::is_negative(width) || detail::is_negative(stride))
      return cudaErrorInvalidValue;
    const Matrix<T> matrix{in, static_cast<std::size_t>(rows), static_cast<std::size_t>(width),
                           static_cast<std::size_t>(stride)};
    constexpr std::size_t most = PTRDIFF_MAX / (sizeof(T) > sizeof(A) ? sizeof(T) : sizeof(A));
    if (matrix.stride < matrix.width || matrix.stride > most ||
        (matrix.stride > 0 && matrix.rows > most / matrix.stride) || matrix.rows > most)
      return cudaErrorInvalidValue;
    using Value =
        std::conditional_t<std::is_same_v<Transform, Itself>, T, typename Transformed<Transform, T, A>::Type>;
    if constexpr (!std::is_convertible_v<Value, A>) {
      if ((columns ? matrix.rows : matrix.width) > most_counted<A>) return cudaErrorInvalidValue;
    }
    if (!detail::is_aligned(in) || reinterpret_cast<std::uintptr_t>(out) % alignof(Out) != 0)
      return cudaErrorInvalidValue;
    if ((columns ? matrix.width : matrix.rows) == 0) return cudaSuccess;
    const Options<A> options(rest...);
    const auto reduction = detail::reduction_of<T, A>(operation, transform);
    constexpr bool same_bits =
        !std::is_same_v<Given, Operation> && traits::order_matters<Value, A, Operation>;
    if constexpr (columns) {
      constexpr unsigned each = columns_of_thread<T, A>();
      if constexpr (each > 1) {
        if (detail::all_begin_at_multiples_of(each * sizeof(T), matrix))
          return detail::run_columns<each, same_bits>(matrix, out, reduction, options.init, options.stream);
      }
      if constexpr (each > 4) {
        if (detail::all_begin_at_multiples_of(each / 4 * sizeof(T), matrix))
          return detail::run_columns<each / 4, same_bits>(matrix, out, reduction, options.init,
                                                          options.stream);
      }
      return detail::run_columns<1, same_bits>(matrix, out, reduction, options.init, options.stream);
    } else if constexpr (same_bits) {
      if constexpr (can_be_wide<T>) {
        if (!detail::all_begin_at_multiples_of(16, matrix))
          return detail::reduce_row_chunks<false>(matrix, out, reduction, options.init, options.stream);
      }
      return detail::reduce_row_chunks<true>(matrix, out, reduction, options.init, options.stream);
    } else {
      if constexpr (can_be_wide<T>) {
        if (matrix.width % (16 / sizeof(T)) == 0 && detail::all_begin_at_multiples_of(16, matrix))
          return detail::reduce_pieces<true, false>(matrix, out, reduction, options.init, options.stream);
        if (detail::has_vectors(in))
          return detail::reduce_pieces<true, true>(matrix, out, reduction, options.init, options.stream);
      }
      if constexpr (!is_wide<T>)
        return detail::reduce_pieces<false, false>(matrix, out, reduction, options.init, options.stream);
      return cudaErrorInvalidValue;
    }
  }
}

}  // namespace detail

/// Combines each row of a matrix, with an init if one is given, and writes the result of row r to out[r].
///
/// - Accumulator, operation, rest: as reduce()'s. The init is combined with each row once. Of a row, an Indexed has the
///   index within the row.
/// - in: element i of row r is in[r * stride + i]. Any address that is aligned for a T; what lies between two rows is not
///   read.
/// - out: `rows` results.
/// - rows, width, stride: integers, 0 too; the stride is the width or more. A row of no elements gives what reduce() gives of
///   none.
///
/// Storage is needed for rows of more than one block alone, and comes from the stream's memory pool. Everything is queued on
/// the stream. With SameBits{operation}, a row has the bits that reduce() gives it alone.
///
/// Returns the first error of CUDA, or cudaErrorInvalidValue for a negative number, a stride below the width, a width that the
/// Index of an Indexed cannot hold, more than 2^63 bytes or 2^31 blocks, and for what is misaligned; then nothing is launched.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Rows, typename Width,
          typename Stride, typename Operation, typename... Rest>
cudaError_t reduce_rows(const T* in, Out* out, Rows rows, Width width, Stride stride, Operation operation,
                        const Rest&... rest) {
  return detail::call_of_matrix<false, Accumulator>(in, out, rows, width, stride, operation, detail::Itself{},
                                                    rest...);
}

/// reduce_rows() of transform(element): the norm of each row, say.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Rows, typename Width,
          typename Stride, typename Operation, typename Transform, typename... Rest>
cudaError_t transform_reduce_rows(const T* in, Out* out, Rows rows, Width width, Stride stride,
                                  Operation operation, Transform transform, const Rest&... rest) {
  return detail::call_of_matrix<false, Accumulator>(in, out, rows, width, stride, operation, transform,
                                                    rest...);
}

/// Does for columns what reduce_rows() does for rows: out[i] gets the result of column i, of `width` columns, and an Indexed
/// the number of the row.
///
/// With SameBits{operation}, the bits of a column depend on its elements, their number and the types alone. The order is not
/// that of reduce(), as a column's elements fill no vectors.
template <typename Accumulator = detail::Default, typename T, typename Out, typename Rows, typename Width,
          typename Stride, typename Operation, typename... Rest>
cudaError_t reduce_columns(const T* in, Out* out, Rows rows, Width width, Stride stride, Operation operation,
                           const Rest&... rest) {
  return detail::call_of_matrix<true, Accumulator>(in, out, rows, width, stride, operation, detail::Itself{},
                                                   rest...);
}

/// reduce_columns() of transform(element).
template <typename Accumulator = detail::Default, typename T, typename Out, typename Rows, typename Width,
          typename Stride, typename Operation, typename Transform, typename... Rest>
cudaError_t transform_reduce_columns(const T* in, Out* out, Rows rows, Width width, Stride stride,
                                     Operation operation, Transform transform, const Rest&... rest) {
  return detail::call_of_matrix<true, Accumulator>(in, out, rows, width, stride, operation, transform,
                                                   rest...);
}

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
