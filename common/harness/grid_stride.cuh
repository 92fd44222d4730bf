#pragma once
/// \file
/// The launches of the harness's own kernels, which are grid-stride loops.

#include <algorithm>
#include <cstddef>

namespace reduction {

inline constexpr unsigned helper_block = 256;

/// Returns a number of blocks that is enough for any device, and never more than there is work.
inline unsigned helper_grid(std::size_t items) {
  const std::size_t blocks = (items + helper_block - 1) / helper_block;
  return static_cast<unsigned>(std::clamp<std::size_t>(blocks, 1, 16384));
}

__device__ inline std::size_t grid_stride_start() {
  return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::size_t grid_stride_step() { return std::size_t{gridDim.x} * blockDim.x; }

}  // namespace reduction
