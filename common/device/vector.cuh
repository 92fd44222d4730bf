#pragma once

#include <cstring>

#include "device/cuda_or_emulated.cuh"

/// Holds the neighbouring elements of one load of 16 bytes.
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

/// Loads, with one instruction, vector number i of those that begin at `from`, whose address is a multiple of 16.
template <typename T> __device__ Vector<T> load_vector(const T* from, size_t i) {
  const uint4 loaded = reinterpret_cast<const uint4*>(from)[i];
  Vector<T> vector;
  memcpy(static_cast<void*>(&vector), &loaded, sizeof(vector));
  return vector;
}
/// The same of vectors that are there as such.
template <typename T> __device__ Vector<T> load_vector(const Vector<T>* from, size_t i) {
  return load_vector(from->elements, i);
}
