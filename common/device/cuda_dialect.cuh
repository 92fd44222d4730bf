#pragma once
/// \file
/// The dialect of kernel.cuh for nvcc. Beyond CUDA itself it has a few helpers.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/cuda_check.cuh"

/// What the lane `delta` higher up in the warp brings as `value`; its own for a lane that has none there. All 32 lanes
/// have to take part. __shfl_down_sync is for arithmetic types; this is for any, in words of 4 bytes as the hardware
/// moves them.
template <typename T> __device__ T shuffle_down(T value, unsigned delta) {
  static_assert(sizeof(T) % sizeof(unsigned) == 0, "a shuffle moves whole words");
  unsigned words[sizeof(T) / sizeof(unsigned)];
  std::memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned& word : words)
    word = __shfl_down_sync(0xffffffff, word, delta);
  std::memcpy(&value, words, sizeof(T));
  return value;
}

/// As many neighbouring elements as one load of 16 bytes, the widest there is, brings.
template <typename T> struct alignas(16) Vector {
  static constexpr unsigned width = 16 / sizeof(T);
  T elements[width];

  __device__ T sum() const {
    T sum = elements[0];
    for (unsigned k = 1; k < width; ++k)
      sum += elements[k];
    return sum;
  }
};

/// Vector number i of those that begin at `from`, whose address is a multiple of 16, in one load.
template <typename T> __device__ Vector<T> load_vector(const T* from, std::size_t i) {
  return reinterpret_cast<const Vector<T>*>(from)[i];
}

/// The number of blocks that are resident at once when `kernel` has the device to itself.
template <typename... Parameters>
std::size_t blocks_to_fill_device(void (*kernel)(Parameters...), unsigned block, std::size_t shared_bytes) {
  int device = 0;
  int multiprocessors = 0;
  int blocks_per_multiprocessor = 0;
  reduction::cuda_check(cudaGetDevice(&device), "asking for the current device");
  reduction::cuda_check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
                        "asking for the number of multiprocessors");
  reduction::cuda_check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_multiprocessor, kernel,
                                                                      static_cast<int>(block), shared_bytes),
                        "asking for the kernel's occupancy");
  return static_cast<std::size_t>(multiprocessors) * static_cast<std::size_t>(blocks_per_multiprocessor);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
/// What devices before 6.0 lack, by the exchange that they have: it succeeds where no other thread came in between.
static __device__ void atomicAdd(double* address, double value) {
  auto* const bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long seen = *bits;
  unsigned long long expected;
  do {
    expected = seen;
    seen = atomicCAS(bits, expected, __double_as_longlong(__longlong_as_double(expected) + value));
  } while (seen != expected);
}
#endif

/// Adds to *address, which other threads may be adding to: each component of a complex number as one indivisible
/// operation, so as two.
template <typename T> __device__ void add_atomically(T* address, T value) {
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    atomicAdd(address, value);
  } else {
    auto* const parts = reinterpret_cast<typename T::value_type*>(address);
    atomicAdd(&parts[0], value.real());
    atomicAdd(&parts[1], value.imag());
  }
}

/// Queues on the default stream that *address, in device memory, becomes zero.
template <typename T> void set_to_zero(T* address) {
  reduction::cuda_check(cudaMemsetAsync(address, 0, sizeof(T)), "setting the result to zero");
}
