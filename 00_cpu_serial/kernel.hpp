#pragma once

#include <atomic>
#include <cstddef>

/// Adds the n elements at `in` to `sum`, one after the other. Each of the n additions waits for the one before.
template <typename T> T running_sum(T sum, const T* in, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    sum += in[i];
    // No instruction, but compilers keep the order across it: they would split a sum of integers into several.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  return sum;
}

/// Adds n >= 1 elements in place as a tree and leaves the sum in data[0]. From level to level `stride` doubles, and
/// element i takes in its neighbour i + stride. Iterations of the inner loop touch different elements, so from step 01
/// on each is a thread. Levels depend on each other, so from step 01 on a barrier separates them.
template <typename T> T tree_sum(T* data, std::size_t n) {
  for (std::size_t stride = 1; stride < n; stride *= 2) {
    for (std::size_t i = 0; i + stride < n; i += 2 * stride) {
      data[i] += data[i + stride];
    }
  }
  return data[0];
}
