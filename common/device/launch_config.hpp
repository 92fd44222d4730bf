#pragma once

#include <cstddef>

/// The shape of a launch, the same on every device.
struct LaunchConfig {
  std::size_t grid;          ///< blocks, 1 to 2^31 - 1
  unsigned block;            ///< threads a block, 1 to 1024
  std::size_t shared_bytes;  ///< dynamic shared memory a block
};
