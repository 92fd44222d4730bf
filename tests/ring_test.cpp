/// \file
/// Compiled for 11_bulk_copy and for the solution of its exercise: the ring on the emulated device, with a stand-in for
/// the TMA.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "emulated/device_array.hpp"
#include "kernel.cuh"

namespace {

template <typename T> using Array = __emulated::DeviceArray<T>;

/// Whole numbers, whose sums are exact, that begin `offset` elements behind the start of a buffer.
template <typename T> void expect_the_sum(unsigned grid, unsigned block, std::size_t offset, std::size_t n) {
  const Array<T> in{offset + n};
  const Array<T> out{grid};
  T expected{};
  for (std::size_t k = 0; k < n; ++k)
    expected += in[offset + k] = static_cast<T>(k % 97 + 1);
  launch_reduce(grid, block, static_cast<const T*>(in) + offset, static_cast<T*>(out), n);
  EXPECT_EQ(out[0], expected) << n << " elements, " << offset << " behind the start, " << grid
                              << " blocks of " << block;
}

/// One block goes round the ring several times, of many blocks some have no tile.
TEST(Ring, BringsEachTileOnce) {
  constexpr std::size_t elements = tile * Vector<std::uint32_t>::width;
  for (const unsigned grid : {1U, 2U, 5U}) {
    for (const unsigned block : {32U, 256U, 1024U}) {
      for (const std::size_t n : {std::size_t{0}, std::size_t{1}, elements - 1, elements, elements + 1,
                                  stages * elements, (3 * stages + 1) * elements + 5}) {
        expect_the_sum<std::uint32_t>(grid, block, 0, n);
        expect_the_sum<std::uint32_t>(grid, block, 3, n);
      }
      expect_the_sum<double>(grid, block, 1, 4 * elements + 1);
    }
  }
}

/// As its page works it out for an H200, on which the emulated device is modelled.
TEST(Ring, LeavesRoomForBlocks) {
  for (const std::size_t block : {256U, 1024U}) {
    const std::size_t blocks = std::min(2048 / block, (std::size_t{228} << 10) / (ring_bytes + 1024));
    EXPECT_EQ(grid_size<std::uint32_t>(std::size_t{1} << 28, static_cast<unsigned>(block)), 132 * blocks);
  }
}

}  // namespace
