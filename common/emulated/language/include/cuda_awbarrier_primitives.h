#pragma once
// Stands in for CUDA's header of this name on the emulated device. (CUDA C++ Programming Guide, "Memory Barrier Primitives
// Interface")
#include "emulated/language/cuda.hpp"

using __mbarrier_t = std::uint64_t;
using __mbarrier_token_t = std::uint64_t;

__EMULATED_INLINE void __mbarrier_init(__mbarrier_t* barrier, std::uint32_t count) {
  __emulated::mbarrier_init(barrier, count);
}
inline void __mbarrier_inval(__mbarrier_t*) {}
constexpr std::uint32_t __mbarrier_maximum_count() { return (1U << 20) - 1; }
__EMULATED_INLINE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
  return __emulated::mbarrier_arrive(barrier);
}
__EMULATED_INLINE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
  return __emulated::mbarrier_arrive(barrier, 1, 0, true);
}
__EMULATED_INLINE bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
  return __emulated::mbarrier_await(barrier, token, false);
}
__EMULATED_INLINE bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity) {
  return __emulated::mbarrier_await_parity(barrier, parity, false);
}
__EMULATED_INLINE bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, std::uint32_t) {
  return __emulated::mbarrier_await(barrier, token, true);
}
__EMULATED_INLINE bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, std::uint32_t) {
  return __emulated::mbarrier_await_parity(barrier, parity, true);
}
