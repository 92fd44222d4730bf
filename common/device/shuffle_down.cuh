#pragma once

#include <cstring>

#include "device/cuda_or_emulated.cuh"

/// Returns the `value` of the lane `delta` higher up in the warp, or the lane's own if there is none. All 32 lanes must
/// take part. __shfl_down_sync takes only arithmetic types; this takes any type and moves words of 4 bytes, as the
/// hardware does.
template <typename T> __device__ T shuffle_down(T value, unsigned delta) {
  static_assert(sizeof(T) % sizeof(unsigned) == 0, "a shuffle moves whole words");
  unsigned words[sizeof(T) / sizeof(unsigned)];
  memcpy(words, static_cast<const void*>(&value), sizeof(T));
#pragma unroll
  for (unsigned& word : words)
    word = __shfl_down_sync(0xffffffff, word, delta);
  memcpy(static_cast<void*>(&value), words, sizeof(T));
  return value;
}
