#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace reduction::emulated {

/// What one warp instruction costs shared memory.
struct SharedTransactions {
  unsigned wavefronts = 0;
  unsigned conflicts = 0;  ///< wavefronts more than it would take without bank conflicts
};

/// Shared memory has 32 banks of 4-byte words. A wavefront serves any lanes that want no two different words
/// of one bank. 8-byte accesses are served a half warp at a time, 16-byte accesses a quarter. \param
/// addresses  of the active lanes, in order; \param lanes  which lanes these are.
SharedTransactions shared_transactions(std::span<const std::uintptr_t> addresses, unsigned lanes,
                                       std::size_t bytes);

/// The number of distinct 32-byte sectors of global memory that one warp instruction touches.
unsigned global_sectors(std::span<const std::uintptr_t> addresses, std::size_t bytes);

}  // namespace reduction::emulated
