#pragma once
/// \file
/// CUDA's vector types. (CUDA C++ Programming Guide, "Built-in Vector Types", has their alignments.)

#include "emulated/memory/word.hpp"
#include "emulated/run/launch_config.hpp"

namespace reduction::emulated {

template <typename T> struct VectorOfOne { T x; };

template <typename T> struct alignas(2 * sizeof(T)) VectorOfTwo {
  T x, y;

  VectorOfTwo() = default;
  REDUCTION_INLINE VectorOfTwo(T of_x, T of_y) : x{of_x}, y{of_y} {}
  REDUCTION_INLINE VectorOfTwo(const VectorOfTwo& other) { copy_word(this, &other); }
  REDUCTION_INLINE VectorOfTwo& operator=(const VectorOfTwo& other) {
    copy_word(this, &other);
    return *this;
  }
  ~VectorOfTwo() = default;
};

/// No more aligned than its elements: a GPU loads these one by one.
template <typename T> struct VectorOfThree {
  T x, y, z;

  VectorOfThree() = default;
  REDUCTION_INLINE VectorOfThree(T of_x, T of_y, T of_z) : x{of_x}, y{of_y}, z{of_z} {}
  REDUCTION_INLINE VectorOfThree(const VectorOfThree& other) : x{other.x}, y{other.y}, z{other.z} {}
  REDUCTION_INLINE VectorOfThree& operator=(const VectorOfThree& other) {
    x = other.x;
    y = other.y;
    z = other.z;
    return *this;
  }
  ~VectorOfThree() = default;
};

/// One word; two where four elements take 32 bytes.
template <typename T> struct alignas(sizeof(T) < 8 ? 4 * sizeof(T) : 16) VectorOfFour {
  T x, y, z, w;

  VectorOfFour() = default;
  REDUCTION_INLINE VectorOfFour(T of_x, T of_y, T of_z, T of_w) : x{of_x}, y{of_y}, z{of_z}, w{of_w} {}
  REDUCTION_INLINE VectorOfFour(const VectorOfFour& other) { copy_word(this, &other); }
  REDUCTION_INLINE VectorOfFour& operator=(const VectorOfFour& other) {
    copy_word(this, &other);
    return *this;
  }
  ~VectorOfFour() = default;
};

}  // namespace reduction::emulated

// (No function makes names of a name.)
#define REDUCTION_VECTORS(name, T)                                   \
  using name##1 = reduction::emulated::VectorOfOne<T>;               \
  using name##2 = reduction::emulated::VectorOfTwo<T>;               \
  using name##4 = reduction::emulated::VectorOfFour<T>;              \
  inline name##1 make_##name##1(T x) { return {x}; }                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define REDUCTION_VECTORS_AND_THREE(name, T)             \
  using name##3 = reduction::emulated::VectorOfThree<T>; \
  REDUCTION_VECTORS(name, T)

using reduction::emulated::uint3;  // that of threadIdx and its like

REDUCTION_VECTORS_AND_THREE(char, signed char)
REDUCTION_VECTORS_AND_THREE(uchar, unsigned char)
REDUCTION_VECTORS_AND_THREE(short, short)
REDUCTION_VECTORS_AND_THREE(ushort, unsigned short)
REDUCTION_VECTORS_AND_THREE(int, int)
REDUCTION_VECTORS(uint, unsigned)
REDUCTION_VECTORS_AND_THREE(long, long)
REDUCTION_VECTORS_AND_THREE(ulong, unsigned long)
REDUCTION_VECTORS_AND_THREE(longlong, long long)
REDUCTION_VECTORS_AND_THREE(ulonglong, unsigned long long)
REDUCTION_VECTORS_AND_THREE(float, float)
REDUCTION_VECTORS_AND_THREE(double, double)
#undef REDUCTION_VECTORS_AND_THREE
#undef REDUCTION_VECTORS
