#pragma once
#include <cstdint>

namespace reduction::emulated {

/// What one launch did, counted as Nsight Compute counts it: per warp instruction unless it says otherwise.
/// Every member is a sum over the launch, so none depends on the order in which blocks and threads ran.
struct Counters {
  std::uint64_t blocks = 0;
  std::uint64_t threads = 0;

  std::uint64_t shared_load_requests = 0;    ///< warp instructions that read shared memory
  std::uint64_t shared_load_wavefronts = 0;  ///< passes over the 32 banks that these took
  std::uint64_t shared_load_conflicts = 0;   ///< wavefronts that bank conflicts added
  std::uint64_t shared_load_lanes = 0;       ///< active lanes, summed over the requests
  std::uint64_t shared_store_requests = 0;
  std::uint64_t shared_store_wavefronts = 0;
  std::uint64_t shared_store_conflicts = 0;
  std::uint64_t shared_store_lanes = 0;

  std::uint64_t global_load_requests = 0;
  std::uint64_t global_load_sectors = 0;  ///< distinct 32-byte sectors, summed over the requests
  std::uint64_t global_load_lanes = 0;
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  std::uint64_t global_store_lanes = 0;

  std::uint64_t block_barriers = 0;  ///< __syncthreads(), once per block
  std::uint64_t warp_barriers = 0;   ///< __syncwarp()
  std::uint64_t shuffles = 0;
  std::uint64_t atomics = 0;  ///< atomic operations, one per lane that takes part

  Counters& operator+=(const Counters& other);
  bool operator==(const Counters& other) const;  // not defaulted: nvcc reads this header as C++17
};

}  // namespace reduction::emulated
