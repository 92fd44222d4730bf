// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// What compute capability 9.0 brought, by its names in the PTX ISA. Only kernels compiled for it may call these.

#include <cstdint>

#include "version.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

/// Opens, turn after turn, when all bytes that it expects have arrived.
struct CopyBarrier {
  std::uint64_t state;
};

#if __CUDA_ARCH__ >= 900

__device__ inline std::uint32_t shared_address(const void* in_shared_memory) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(in_shared_memory));
}

// ---- bulk copies and the barriers that count their bytes ----

/// Makes a barrier for copies that the calling thread asks for.
__device__ inline void make_barrier(CopyBarrier& barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)) : "memory");
}

/// Shows the barriers that the calling thread has made to the TMA.
__device__ inline void show_barriers_to_tma() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Asks the TMA for `bytes` bytes. Both addresses and the number of bytes are multiples of 16.
__device__ inline void bulk_copy(void* to, const void* from, std::uint32_t bytes, CopyBarrier& arrived) {
  const std::uint32_t barrier = shared_address(&arrived);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
          shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
      : "memory");
}

/// Waits for the end of a turn; the first has parity 0, the next 1.
__device__ inline void wait_for_turn(CopyBarrier& barrier, std::uint32_t parity) {
  std::uint32_t open = 0;
  while (open == 0) {
    asm volatile(
        "{\n\t.reg .pred open;\n\tmbarrier.try_wait.parity.shared::cta.b64 open, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, open;\n\t}"
        : "=r"(open)
        : "r"(shared_address(&barrier)), "r"(parity)
        : "memory");
  }
}

// ---- programmatic dependent launch ----

/// The next kernel may start when all blocks have come here or ended; it waits for this one's end by itself.
__device__ inline void let_next_kernel_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/// Waits until the kernel before has ended, and all that it wrote is visible.
__device__ inline void wait_for_kernel_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

#endif

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
