// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// The numbers that the kernels of reduce.cuh are made with, and why they are what they are.

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "operations.cuh"
#include "version.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

// ---- the shape of the kernels ----

/// Vectors that each thread has under way. With eight, registers leave room for half as many threads.
inline constexpr unsigned loads = 4;
/// Partial results that a thread has under way, fewer of those that may be too large for registers. Sixteen of them cost a
/// small reduction 0.3 µs.
template <typename A>
inline constexpr unsigned combine_loads = sizeof(A) <= 8    ? 8
                                          : sizeof(A) <= 64 ? loads
                                                            : 1;

// Threads of a block. A small one starts sooner; a large tile leaves fewer partial results. Where combining takes long, 512
// threads that take half of such a tile after the other are faster than 1024.
inline constexpr unsigned small_block = 256;
inline constexpr unsigned block = 512;
inline constexpr unsigned large_block = 1024;

// The second kernel, by the number of partial results.
inline constexpr unsigned one_warp_combines = 256;      ///< at most
inline constexpr unsigned small_block_combines = 2048;  ///< at most
inline constexpr unsigned one_block_combines =
    16384;                               ///< at most: of more, many blocks combine shares before
inline constexpr unsigned share = 2048;  ///< partial results

/// The largest input of small blocks in bytes: up to there they were faster than others, on an H100. One tile takes one
/// kernel.
inline constexpr std::size_t small_blocks_bytes = std::size_t{8} << 20;

// ---- rows and columns, on an H100 ----

inline constexpr unsigned small_row_block = 256;  ///< threads of a block of several rows
inline constexpr unsigned row_block = 512;        ///< most threads that share a row, or a piece of one
/// From as many vectors on, a block has a row.
inline constexpr unsigned block_row_vectors = 256;
/// Combining threads takes as long as combining some vectors. Where that is not fast, a thread has twice as many of them, of a
/// row that has more vectors than these.
inline constexpr unsigned row_rounds = 2;
inline constexpr unsigned short_row_vectors = 32;
/// A row of more tiles is taken in pieces, and of fewer rows one of two. A tile is four vectors for each of 512 threads.
inline constexpr unsigned most_row_tiles = 4;
inline constexpr unsigned many_rows = 2048;
/// Of as many tiles, a piece is several where combining is not fast.
inline constexpr unsigned many_row_tiles = 4096;
inline constexpr unsigned piece_tiles = 4;
/// With fewer threads, a device has room for more: then they take fewer vectors each.
inline constexpr unsigned enough_row_threads = 1 << 17;

/// Threads of a block for columns: as many as have room for their results in shared memory.
template <typename A> inline constexpr unsigned column_block = sizeof(A) <= 128 ? 256 : 32;
/// Neighbouring columns of a thread: those of a vector, or as many as have their accumulators in 64 bytes of registers.
template <typename T, typename A> constexpr unsigned columns_of_thread() {
  unsigned columns = 16 % sizeof(T) == 0 ? 16 / sizeof(T) : 1;
  while (columns > 1 && columns * sizeof(A) > 64)
    columns /= 2;
  return columns;
}
/// Rows that a thread has under way, of as many bytes each.
template <std::size_t bytes>
inline constexpr unsigned rows_at_once = bytes < 4    ? 16
                                         : bytes < 64 ? 64 / bytes
                                                      : 1;
inline constexpr unsigned enough_column_blocks = 1024;
inline constexpr unsigned wide_enough_column_blocks = 512;  ///< then each has its columns for itself
/// Rows of a tile's threads that are worth a second kernel.
inline constexpr unsigned least_column_rows = 16;
/// In the order of SameBits, whatever the device: another number is another order.
inline constexpr unsigned same_column_parts = 256;
/// Of a part, an eighth of which is one thread's: CompensatedSum's bound allows for 2^20 additions, one after the other.
inline constexpr std::size_t most_part_rows = std::size_t{1} << 23;

// ---- the order of SameBits: with other numbers its bits are others, which takes another version of the header ----

/// With half as many, 4097 tiles would be 2049 chunks of two, and a last round of a few chunks took 2.6 % of the time.
inline constexpr unsigned most_chunks = 8192;
inline constexpr unsigned chunk_block = 512;          ///< threads
inline constexpr unsigned chunk_combine_block = 512;  ///< threads of the second kernel
// Two blocks' rings fit into the shared memory of a multiprocessor of compute capability 9.0 or 10.0. Three stages of 32 KiB
// were faster than two, or than more of 16 KiB.
inline constexpr unsigned bulk_stages = 3;
inline constexpr unsigned bulk_stage_bytes = 32 << 10;
inline constexpr unsigned bulk_ring_bytes = bulk_stages * bulk_stage_bytes;
/// Bulk copies from other addresses take a third longer.
inline constexpr unsigned bulk_alignment = 128;
/// From more on, bulk copies were faster than loads, on an H200.
inline constexpr std::size_t loads_bytes = std::size_t{1} << 30;

// ---- what architectures differ in ----

/// Threads that a multiprocessor holds at once (CUDA C++ Programming Guide, "Compute Capabilities").
#if __CUDA_ARCH__ == 750
inline constexpr unsigned threads_per_multiprocessor = 1024;
#elif __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 880 || __CUDA_ARCH__ == 890 || \
    __CUDA_ARCH__ == 1100 || __CUDA_ARCH__ == 1200 || __CUDA_ARCH__ == 1210
inline constexpr unsigned threads_per_multiprocessor = 1536;
#else
inline constexpr unsigned threads_per_multiprocessor = 2048;
#endif

/// Blocks of `threads` threads per multiprocessor that the compiler has to leave registers for: all that its threads have
/// room for, where that spills nothing. For a sum of doubles it takes 40 registers on compute capability 10.0 if it may.
template <typename R, unsigned threads>
inline constexpr unsigned least_resident_blocks = R::is_light ? threads_per_multiprocessor / threads : 1;

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
