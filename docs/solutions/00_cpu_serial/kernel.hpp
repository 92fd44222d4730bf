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

/// Adds n >= 1 elements in place as a tree and leaves the sum in data[0]. On each level the upper half of the elements is
/// added to the lower half. Of an odd number of them the one in the middle has no partner: it waits for the next level.
template <typename T> T tree_sum(T* data, std::size_t n) {
  for (std::size_t stride = (n + 1) / 2; n > 1; n = stride, stride = (n + 1) / 2) {
    for (std::size_t i = 0; i + stride < n; ++i) {
      data[i] += data[i + stride];
    }
  }
  return data[0];
}
