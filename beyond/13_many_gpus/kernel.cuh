#pragma once
#include <cstddef>
#include <cstdint>

#include "../12_any_operation/reduction/across.cuh"
#include "device/cuda_check.cuh"

/// Queues the whole reduction on the default stream: each of the peers sums its part of the n elements, their kernels
/// exchange what they have, and every one's `out` gets the sum of all.
template <typename T> void launch_reduce(const reduction::Peers& peers, const T* in, T* out, std::size_t n) {
  reduction::cuda_check(reduction::reduce_across(peers, in, out, n, reduction::SameBits{reduction::Sum{}}),
                        "launching reduce_across()");
}

/// Returns the most additions that one of n elements goes through: those of its vector, its thread and its block's tree,
/// then of a thread of the last kernel, of its block's tree, and one with what every thread begins with.
template <typename T> std::uint64_t most_additions(std::size_t n) {
  using namespace reduction::detail;
  const std::uint64_t of_thread = chunks_of<T>(n).each / chunk_block;
  return IndexedVector<T>::width + of_thread + 9 + most_chunks / chunk_combine_block + 9 + 1;
}
