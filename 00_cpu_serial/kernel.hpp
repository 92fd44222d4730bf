#pragma once

#include <atomic>
#include <cstddef>

/// Adds the n elements at `in` to `sum`, one after the other: n additions, each of which waits for the one before.
template <typename T> T running_sum(T sum, const T* in, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    sum += in[i];
    // No instruction. Compilers keep the order across it: a sum of integers they would split into several, side by side.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  return sum;
}

/// Adds n >= 1 elements in place as a tree; the sum is left in data[0]. Level by level, `stride` doubles, and element i
/// takes in its neighbour i + stride. The iterations of the inner loop do not touch each other's elements: from step 01
/// on each of them is a thread. The levels do depend on each other: between two of them comes a barrier.
template <typename T> T tree_sum(T* data, std::size_t n) {
  for (std::size_t stride = 1; stride < n; stride *= 2) {
    for (std::size_t i = 0; i + stride < n; i += 2 * stride) {
      data[i] += data[i + stride];
    }
  }
  return data[0];
}
