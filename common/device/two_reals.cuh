#pragma once
/// \file
/// Complex numbers for a library that copies its elements as bytes, which those of the emulated device do not allow.

#include <cuda_runtime.h>

#include <type_traits>

template <typename Real> struct alignas(2 * sizeof(Real)) TwoReals {
  Real real, imaginary;
  __host__ __device__ TwoReals operator+(const TwoReals& other) const {
    return {real + other.real, imaginary + other.imaginary};
  }
};

/// Returns the same elements as such a library takes them: only where it has to be, as TwoReals.
template <typename T> auto* as_bytes(T* elements) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    return elements;
  } else {
    using Two = TwoReals<typename T::value_type>;
    return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const Two, Two>*>(elements);
  }
}
