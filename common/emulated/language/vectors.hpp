#pragma once
/// \file
/// CUDA's vector types. (CUDA C++ Programming Guide, "Built-in Vector Types", has their alignments.)

#include "emulated/memory/word.hpp"
#include "emulated/run/execution_configuration.hpp"

namespace __emulated::types {

template <typename T> struct VectorOfOne { T x; };

template <typename T> struct alignas(2 * sizeof(T)) VectorOfTwo {
  T x, y;

  VectorOfTwo() = default;
  __EMULATED_INLINE VectorOfTwo(T of_x, T of_y) : x{of_x}, y{of_y} {}
  __EMULATED_INLINE VectorOfTwo(const VectorOfTwo& other) { copy_word(this, &other); }
  __EMULATED_INLINE VectorOfTwo& operator=(const VectorOfTwo& other) {
    copy_word(this, &other);
    return *this;
  }
  ~VectorOfTwo() = default;
};

/// No more aligned than its elements: a GPU loads these one by one.
template <typename T> struct VectorOfThree {
  T x, y, z;

  VectorOfThree() = default;
  __EMULATED_INLINE VectorOfThree(T of_x, T of_y, T of_z) : x{of_x}, y{of_y}, z{of_z} {}
  __EMULATED_INLINE VectorOfThree(const VectorOfThree& other) : x{other.x}, y{other.y}, z{other.z} {}
  __EMULATED_INLINE VectorOfThree& operator=(const VectorOfThree& other) {
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
  __EMULATED_INLINE VectorOfFour(T of_x, T of_y, T of_z, T of_w) : x{of_x}, y{of_y}, z{of_z}, w{of_w} {}
  __EMULATED_INLINE VectorOfFour(const VectorOfFour& other) { copy_word(this, &other); }
  __EMULATED_INLINE VectorOfFour& operator=(const VectorOfFour& other) {
    copy_word(this, &other);
    return *this;
  }
  ~VectorOfFour() = default;
};

}  // namespace __emulated::types

// (No function makes names of a name.)
#define __EMULATED_VECTORS(name, T)                                  \
  using name##1 = __emulated::types::VectorOfOne<T>;                 \
  using name##2 = __emulated::types::VectorOfTwo<T>;                 \
  using name##4 = __emulated::types::VectorOfFour<T>;                \
  inline name##1 make_##name##1(T x) { return {x}; }                 \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define __EMULATED_VECTORS_AND_THREE(name, T)          \
  using name##3 = __emulated::types::VectorOfThree<T>; \
  __EMULATED_VECTORS(name, T)

using __emulated::uint3;  // that of threadIdx and its like

__EMULATED_VECTORS_AND_THREE(char, signed char)
__EMULATED_VECTORS_AND_THREE(uchar, unsigned char)
__EMULATED_VECTORS_AND_THREE(short, short)
__EMULATED_VECTORS_AND_THREE(ushort, unsigned short)
__EMULATED_VECTORS_AND_THREE(int, int)
__EMULATED_VECTORS(uint, unsigned)
__EMULATED_VECTORS_AND_THREE(long, long)
__EMULATED_VECTORS_AND_THREE(ulong, unsigned long)
__EMULATED_VECTORS_AND_THREE(longlong, long long)
__EMULATED_VECTORS_AND_THREE(ulonglong, unsigned long long)
__EMULATED_VECTORS_AND_THREE(float, float)
__EMULATED_VECTORS_AND_THREE(double, double)
#undef __EMULATED_VECTORS_AND_THREE
#undef __EMULATED_VECTORS
