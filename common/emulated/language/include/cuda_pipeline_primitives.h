#pragma once
// Stands in for CUDA's header of this name on the emulated device. (CUDA C++ Programming Guide, "Pipeline Primitives Interface")
#include <cuda_awbarrier_primitives.h>

#include "emulated/language/cuda.hpp"

__EMULATED_INLINE void __pipeline_memcpy_async(void* shared, const void* global, std::size_t bytes,
                                               std::size_t zeros = 0) {
  __emulated::copy_async(shared, global, static_cast<unsigned>(bytes), static_cast<unsigned>(bytes - zeros));
}
__EMULATED_INLINE void __pipeline_commit() { __emulated::commit_copies(); }
__EMULATED_INLINE void __pipeline_wait_prior(std::size_t groups_left) {
  __emulated::wait_for_copies(static_cast<unsigned>(groups_left));
}
__EMULATED_INLINE void __pipeline_arrive_on(__mbarrier_t* barrier) {
  __emulated::mbarrier_arrive_copies(barrier);
}
