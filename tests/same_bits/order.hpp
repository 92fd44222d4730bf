#pragma once
/// \file
/// The order of SameBits, written down a second time: one loop on the host, without blocks, warps or loads.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace same_bits {

/// Combines each half with the other until one value is left, as shuffles of a warp do.
template <typename A, typename Combine> A tree(std::vector<A> values, const Combine& combine) {
  for (std::size_t stride = values.size() / 2; stride > 0; stride /= 2)
    for (std::size_t i = 0; i < stride; ++i)
      values[i] = combine(values[i], values[i + stride]);
  return values[0];
}

/// A tree over the lanes of each of 16 warps, and one over the warps.
template <typename A, typename Combine>
A block_of_512(const std::vector<A>& of_threads, const Combine& combine) {
  std::vector<A> of_warps;
  for (std::size_t thread = 0; thread < 512; thread += 32) {
    const auto first = of_threads.begin() + static_cast<std::ptrdiff_t>(thread);
    of_warps.push_back(tree(std::vector<A>(first, first + 32), combine));
  }
  return tree(of_warps, combine);
}

/// Returns the n elements at `in` combined.
///
/// - width: elements per vector.
/// - loads: vectors per thread and tile.
/// - of_vector(first, count): `count` consecutive elements combined, at most `width`.
template <typename A, typename T, typename Combine, typename OfVector>
A in_order(const T* in, std::size_t n, std::size_t width, std::size_t loads, const A& identity,
           const Combine& combine, const OfVector& of_vector) {
  const auto parts = [](std::size_t all, std::size_t part) { return (all + part - 1) / part; };
  const std::size_t tile = 512 * loads;
  const std::size_t tiles = parts(parts(n, width), tile);
  const std::size_t chunk = tile * std::max<std::size_t>(1, parts(tiles, 8192)) * width;
  std::vector<A> of_chunks;
  for (std::size_t begin = 0; begin < std::max<std::size_t>(n, 1); begin += chunk) {
    std::vector<A> of_threads(512, identity);
    const std::size_t end = std::min(n, begin + chunk);
    std::size_t thread = 0;
    for (std::size_t i = begin; i < end; i += width, thread = (thread + 1) % 512)
      of_threads[thread] = combine(of_threads[thread], of_vector(in + i, std::min(width, end - i)));
    of_chunks.push_back(block_of_512(of_threads, combine));
  }
  if (of_chunks.size() == 1) return of_chunks[0];
  const std::size_t of_warp = parts(of_chunks.size(), 512) * 32;  // chunks
  std::vector<A> of_threads(512, identity);
  for (std::size_t i = 0; i < of_chunks.size(); ++i) {
    A& of_thread = of_threads[i / of_warp * 32 + i % 32];
    of_thread = combine(of_thread, of_chunks[i]);
  }
  return block_of_512(of_threads, combine);
}

}  // namespace same_bits
