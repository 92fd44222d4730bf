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

// ---- the shape of the kernels, measured on an H200 ----

// Four blocks fill a multiprocessor's 2048 threads, three one of 1536, two one of 1024.
inline constexpr unsigned block = 512;  ///< threads
/// Vectors that each thread has under way. With eight, registers leave room for half as many threads.
inline constexpr unsigned loads = 4;
/// The same of elements that may be too large for registers.
template <typename T> inline constexpr unsigned loads_of = sizeof(T) <= 64 ? loads : 1;
/// Threads of the second kernel: each loads one or two partial results, and eight warps are one level of the tree.
inline constexpr unsigned combine_block = 256;
/// Threads if one block does it all, and has little to do. It starts sooner than the large one.
inline constexpr unsigned small_block = 256;
/// Threads if one block does it all, and has more to do: as many as a block can have.
inline constexpr unsigned large_block = 1024;
/// Of `block` threads each; more than eight is not portable.
inline constexpr unsigned cluster_blocks = 8;
// Two blocks' rings fit into the shared memory of a multiprocessor of compute capability 9.0 or 10.0. Three stages of 32 KiB
// were faster than two, or than more of 16 KiB.
inline constexpr unsigned bulk_block = 512;
inline constexpr unsigned bulk_stages = 3;
inline constexpr unsigned bulk_stage_bytes = 32 << 10;
inline constexpr unsigned bulk_ring_bytes = bulk_stages * bulk_stage_bytes;
/// Bulk copies from other addresses take a third longer.
inline constexpr unsigned bulk_alignment = 128;

// ---- the largest input of each method in bytes: up to there it was faster than the next, on an H200 ----

inline constexpr std::size_t small_block_bytes = std::size_t{16} << 10;
inline constexpr std::size_t large_block_bytes = std::size_t{64} << 10;
inline constexpr std::size_t cluster_bytes = std::size_t{256} << 10;
inline constexpr std::size_t two_kernels_bytes = std::size_t{1} << 30;

// ---- the order of SameBits: with other numbers its bits are others, which takes another version of the header ----

/// With half as many, 4097 tiles would be 2049 chunks of two, and a last round of a few chunks took 2.6 % of the time.
inline constexpr unsigned most_chunks = 8192;
inline constexpr unsigned chunk_block = 512;          ///< threads
inline constexpr unsigned chunk_combine_block = 512;  ///< threads of the second kernel
/// Partial results that each of them has under way. Sixteen of them cost a small reduction 0.3 µs.
template <typename A> inline constexpr unsigned chunk_combine_loads = sizeof(A) <= 8 ? 8 : loads_of<A>;

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

/// Blocks per multiprocessor, at most: 2048 threads.
inline constexpr unsigned most_resident_blocks = 4;

/// Blocks per multiprocessor that the compiler has to leave registers for, of a kernel of `block` threads: all that its
/// threads have room for, where that spills nothing. For a sum of doubles it takes 40 registers on compute capability 10.0
/// if it may, and three blocks instead of four.
template <typename R>
inline constexpr unsigned least_resident_blocks = R::is_light ? threads_per_multiprocessor / block : 1;

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
