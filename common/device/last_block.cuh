#pragma once
/// \file
/// The ticket of 10_single_pass, for the steps after it.

#include "device/cuda_or_emulated.cuh"

/// Counts the tickets that blocks of the running launch have taken; 0 before and after it. Launches must not overlap.
static __device__ unsigned tickets;

/// Stores thread 0's `sum` at out[blockIdx.x]. Returns whether the calling block is the last of several to do so; it
/// then sees what all others have stored. All threads of every block must take part.
template <typename T> __device__ bool is_last_block(T sum, T* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
  if (gridDim.x == 1) return false;
  bool is_last = false;
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;  // the last ticket sets it back to 0
    __threadfence();
  }
  return __syncthreads_or(is_last) != 0;
}
