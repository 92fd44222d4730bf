#pragma once
#include <algorithm>
#include <array>
#include <cstddef>

/// Adds in a tree: each element of the lower half gets its partner in the upper half, until one is left.
template <typename T> T tree(T* sums, unsigned count) {
  for (unsigned stride = count / 2; stride > 0; stride /= 2)
    for (unsigned k = 0; k < stride; ++k)
      sums[k] += sums[k + stride];
  return sums[0];
}

/// Adds what the threads of a block have: each warp's 32, then the 16 warps'.
template <typename T> T block_sum(std::array<T, 512> threads) {
  std::array<T, 16> warps;
  for (unsigned warp = 0; warp < 16; ++warp)
    warps[warp] = tree(&threads[32 * warp], 32);
  return tree(warps.data(), 16);
}

/// Returns the sum of n numbers as reduce() has it with SameBits{Sum{}}.
template <typename T> T sum_in_one_order(const T* in, std::size_t n) {
  if (n == 0) return 0;
  constexpr std::size_t width = 16 / sizeof(T);  // of a vector
  constexpr std::size_t tile = 2048 * width;
  const std::size_t tiles = (n + tile - 1) / tile;
  const std::size_t chunk = (tiles + 8191) / 8192 * tile;
  const std::size_t chunks = (n + chunk - 1) / chunk;
  const std::size_t of_warp = (chunks + 511) / 512 * 32;  // chunks
  std::array<T, 512> of_chunks;
  of_chunks.fill(T(-0.0));
  for (std::size_t first = 0; first < n; first += chunk) {
    std::array<T, 512> threads;
    threads.fill(T(-0.0));
    const std::size_t end = std::min(n, first + chunk);
    for (std::size_t i = first; i < end; i += width) {
      T vector = in[i];
      for (std::size_t k = i + 1; k < std::min(end, i + width); ++k)
        vector += in[k];
      threads[i / width % 512] += vector;
    }
    const std::size_t number = first / chunk;
    of_chunks[number / of_warp * 32 + number % 32] += block_sum(threads);
  }
  return block_sum(of_chunks);
}
