#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/cuda_or_emulated.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 600
/// Adds a double on devices before 6.0, which lack it: their exchange succeeds if no other thread came in between.
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

/// Adds to *address, to which other threads may be adding: as one indivisible operation, or as two for the components
/// of a complex number.
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

/// Sets *address, in device memory, to zero, in the order of the default stream.
template <typename T> void set_to_zero(T* address) {
#ifdef __CUDACC__
  reduction::cuda_check(cudaMemsetAsync(address, 0, sizeof(T)), "setting the result to zero");
#else
  std::memset(static_cast<void*>(address), 0, sizeof(T));
  __emulated::mark_initialised(address, sizeof(T));
#endif
}
