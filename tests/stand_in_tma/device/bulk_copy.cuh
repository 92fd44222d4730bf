#pragma once
/// \file
/// The words of common/device/bulk_copy.cuh on the emulated device, which has no TMA: the thread that asks copies
/// itself, at once. So a test sees whether each tile comes whole to its stage and is read there before the next one comes,
/// but not what may be under way meanwhile.

#include <cstdint>

#include "device/vector.cuh"

struct BulkBarrier {
  std::uint64_t turns;  ///< how often its stage has been filled
};

__device__ inline void make_barriers(BulkBarrier* barriers, unsigned count) {
  for (unsigned k = 0; k < count; ++k)
    barriers[k].turns = 0;
}

template <typename T>
__device__ void bulk_copy(Vector<T>* to, size_t count, const T* from, size_t first, size_t vectors,
                          BulkBarrier& arrived) {
  if (first >= vectors) return;
  for (size_t k = 0; k < count && first + k < vectors; ++k)
    to[k] = load_vector(from, first + k);
  ++arrived.turns;
}

/// A wait for a turn that does not come, or that is over, is an endless loop, which the emulated device finds.
__device__ inline void wait_for_turn(BulkBarrier& arrived, unsigned turn) {
  __syncthreads();
  while (arrived.turns != turn + std::uint64_t{1}) {
  }
}

template <typename Kernel> Kernel with_shared(size_t bytes, Kernel kernel) {
  __emulated::allow_dynamic_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
  return kernel;
}
