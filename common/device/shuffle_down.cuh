#pragma once

#include <cstring>

#include "device/dialect.cuh"

/// What the lane `delta` higher up in the warp brings as `value`; its own for a lane that has none there. All 32 lanes
/// have to take part. __shfl_down_sync is for arithmetic types; this is for any, in words of 4 bytes as the hardware
/// moves them.
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
