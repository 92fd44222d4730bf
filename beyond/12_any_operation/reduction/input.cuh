// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// Where the elements of a call are, how many there are, and how a thread loads them: 16 bytes at a time.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "constants.cuh"
#include "version.cuh"

namespace reduction {

inline namespace REDUCTION_NAMESPACE {

namespace detail {

// ---- where the elements are ----

/// An element of each of two arrays.
template <typename T, typename U> struct Two {
  T first;
  U second;
};

/// Where two arrays are: what `const T*` is of one.
template <typename T, typename U> struct TwoArrays {
  const T* first;
  const U* second;

  __device__ Two<T, U> operator[](std::size_t i) const { return {first[i], second[i]}; }
  __host__ __device__ TwoArrays operator+(std::size_t i) const { return {first + i, second + i}; }
  __device__ std::ptrdiff_t operator-(const TwoArrays& other) const { return first - other.first; }
};
template <typename T> struct WhereElementsAre { using Type = const T*; };
template <typename T, typename U> struct WhereElementsAre<Two<T, U>> { using Type = TwoArrays<T, U>; };
template <typename T> using Where = typename WhereElementsAre<T>::Type;
template <typename T> inline constexpr bool is_two = false;
template <typename T, typename U> inline constexpr bool is_two<Two<T, U>> = true;

/// Returns the number of elements before the first that a vector can begin with.
template <typename T> __host__ __device__ unsigned head_of(const T* in) {
  return (16 - static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in) % 16)) % 16 / sizeof(T);
}
template <typename T, typename U> __host__ __device__ unsigned head_of(const TwoArrays<T, U>& in) {
  return sizeof(T) < sizeof(U) ? detail::head_of(in.first) : detail::head_of(in.second);
}

template <typename T> bool is_aligned(const T* in) {
  return reinterpret_cast<std::uintptr_t>(in) % alignof(T) == 0;
}
template <typename T, typename U> bool is_aligned(const TwoArrays<T, U>& in) {
  return detail::is_aligned(in.first) && detail::is_aligned(in.second);
}

// ---- what one load brings ----

/// Whether elements fill 16 bytes, and whether they do so at every address that they may have. A T that is larger than its
/// alignment may be where no vector can begin, and two arrays may begin in different places of one.
template <typename T> inline constexpr bool can_be_wide = 16 % sizeof(T) == 0;
template <typename T, typename U>
inline constexpr bool can_be_wide<Two<T, U>> = can_be_wide<T>&& can_be_wide<U>;
template <typename T> inline constexpr bool is_wide = can_be_wide<T> && alignof(T) == sizeof(T);
template <typename T, typename U> inline constexpr bool is_wide<Two<T, U>> = false;

/// Whether vectors can begin with the first element.
template <typename T> bool begins_with_vectors(const T* in) {
  return can_be_wide<T> && reinterpret_cast<std::uintptr_t>(in) % 16 == 0;
}
template <typename T, typename U> bool begins_with_vectors(const TwoArrays<T, U>& in) {
  return detail::begins_with_vectors(in.first) && detail::begins_with_vectors(in.second);
}

/// Whether they can begin with any.
template <typename Arrays> bool has_vectors(const Arrays& in) {
  return detail::begins_with_vectors(in + detail::head_of(in));
}

/// Holds 16 bytes of elements if `wide`, as words, so that one instruction loads any T; else one.
template <typename T, bool wide> struct Vector {
  static constexpr unsigned width = 16 / sizeof(T);
  uint4 words;
  __device__ void pack(const T (&elements)[width]) { std::memcpy(&words, elements, sizeof(elements)); }
  __device__ void unpack(T (&elements)[width]) const {
    std::memcpy(static_cast<void*>(elements), &words, sizeof(elements));
  }
};
template <typename T> struct Vector<T, false> {
  static constexpr unsigned width = 1;
  T element;
};
/// Of the smaller type 16 bytes, of the other as many elements.
template <typename T, typename U> struct Vector<Two<T, U>, true> {
  static constexpr unsigned width = 16 / (sizeof(T) < sizeof(U) ? sizeof(T) : sizeof(U));
  uint4 first[width * sizeof(T) / 16];
  uint4 second[width * sizeof(U) / 16];
  __device__ void pack(const Two<T, U> (&elements)[width]) {
    T of_first[width];
    U of_second[width];
#pragma unroll
    for (unsigned k = 0; k < width; ++k) {
      of_first[k] = elements[k].first;
      of_second[k] = elements[k].second;
    }
    std::memcpy(first, of_first, sizeof(of_first));
    std::memcpy(second, of_second, sizeof(of_second));
  }
  __device__ void unpack(Two<T, U> (&elements)[width]) const {
    T of_first[width];
    U of_second[width];
    std::memcpy(static_cast<void*>(of_first), first, sizeof(of_first));
    std::memcpy(static_cast<void*>(of_second), second, sizeof(of_second));
#pragma unroll
    for (unsigned k = 0; k < width; ++k)
      elements[k] = {of_first[k], of_second[k]};
  }
};

/// Returns the vector that begins at `from`.
template <bool wide, typename T> __device__ Vector<T, wide> load(const T* from) {
  return *reinterpret_cast<const Vector<T, wide>*>(from);
}
template <bool wide, typename T, typename U>
__device__ Vector<Two<T, U>, wide> load(const TwoArrays<T, U>& from) {
  if constexpr (wide) {
    Vector<Two<T, U>, wide> loaded;
#pragma unroll
    for (unsigned k = 0; k < sizeof(loaded.first) / 16; ++k)
      loaded.first[k] = reinterpret_cast<const uint4*>(from.first)[k];
#pragma unroll
    for (unsigned k = 0; k < sizeof(loaded.second) / 16; ++k)
      loaded.second[k] = reinterpret_cast<const uint4*>(from.second)[k];
    return loaded;
  } else {
    return {from[0]};
  }
}

/// Vectors that each thread has under way.
template <typename T> inline constexpr unsigned loads_of = sizeof(T) <= 64 ? loads : 1;
template <typename T, typename U>
inline constexpr unsigned loads_of<Two<T, U>> = sizeof(Vector<Two<T, U>, can_be_wide<Two<T, U>>>) <= 32
                                                    ? loads / 2
                                                    : 1;

// ---- how many there are ----

/// The n elements at `in`, split into vectors and what is left at both ends: before the first multiple of 16 bytes, and after
/// the last whole vector. The host does it, so that a kernel's first load is not far from its first instruction.
template <typename T, bool wide> struct Split {
  static constexpr bool is_wide = wide;
  static constexpr unsigned width = Vector<T, wide>::width;
  Where<T> in;
  std::size_t n;
  std::size_t count;  ///< number of vectors
  unsigned head;      ///< number of elements before them
  unsigned ends;      ///< number of elements before and after them
  Where<T> vectors;

  __host__ __device__ Split(const Where<T>& in_, std::size_t n_)
      : in(in_), n(n_), head(wide && n > 0 ? head_of(in) : 0), vectors(in) {
    if (head > n) head = static_cast<unsigned>(n);
    count = (n - head) / width;
    ends = static_cast<unsigned>(n - count * width);
    vectors = in + head;
  }

  __device__ const Split& split() const { return *this; }

  /// Returns the index of a vector's first element.
  __device__ std::size_t index(std::size_t vector) const { return head + vector * width; }
  __device__ Vector<T, wide> load(std::size_t vector) const {
    return detail::load<wide>(vectors + vector * width);
  }
};

/// A number of elements that the host knows, and that is not 0.
struct SomeElements {
  static __device__ constexpr bool is_zero() { return false; }
};

/// One that the device knows.
template <typename Integer> struct DeviceCount {
  OnDevice<Integer> n;
  __device__ std::size_t value() const {
    const Integer count = *n.count;
    if (count < Integer{1}) return 0;
    return (::min)(static_cast<std::size_t>(count), n.capacity);
  }
  __device__ bool is_zero() const { return value() == 0; }
};

/// What Split is, of so many elements.
template <typename T, bool wide, typename Integer> struct SplitOnDevice {
  static constexpr bool is_wide = wide;
  Where<T> in;
  DeviceCount<Integer> n;
  __device__ Split<T, wide> split() const { return {in, n.value()}; }
};

}  // namespace detail

}  // namespace REDUCTION_NAMESPACE

}  // namespace reduction
