#pragma once

#include <cstddef>

#include "device/device_error.hpp"

/// Rows of equal width: element i of row r is in[r * stride + i].
struct Matrix {
  std::size_t rows = 0;
  std::size_t width = 0;
  std::size_t stride = 0;  ///< from row to row, the width or more

  /// Returns how many elements its memory has, with the gaps between rows.
  std::size_t elements() const { return rows == 0 || width == 0 ? 0 : (rows - 1) * stride + width; }
};

/// Returns a number of blocks as a launch takes it. Throws DeviceError if they are more than a grid may have.
inline unsigned grid_of(std::size_t blocks) {
  if (blocks >= std::size_t{1} << 31) throw reduction::DeviceError("a grid has at most 2^31 - 1 blocks");
  return static_cast<unsigned>(blocks);
}
