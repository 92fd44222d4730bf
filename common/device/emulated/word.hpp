#pragma once
/// \file
/// Values that a GPU loads and stores as one word of 8 or 16 bytes. A host compiler copies a struct as it likes, member by
/// member or by memcpy; these it copies by one load and one store.

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// Inlines a function into the kernel at any optimisation level, so that its accesses come from the kernel's own lines.
/// GCC's debug information says which lines those are; what Clang writes for inlined calls is not understood by every
/// addr2line, so that there the function is left out of it.
#ifdef __clang__
#define REDUCTION_INLINE [[gnu::always_inline, gnu::nodebug]] inline
#else
#define REDUCTION_INLINE [[gnu::always_inline]] inline
#endif

namespace reduction::emulated {

using Word8 [[gnu::may_alias]] = std::uint64_t;
using Word16 [[gnu::may_alias]] = unsigned __int128;

/// Ends the block, whose running thread is about to load or store that many bytes at an address that is no multiple of them.
void refuse_misaligned(const void* address, std::size_t bytes, bool stores);

/// Copies T, of 8 or 16 bytes and aligned to its size, by one load and one store.
template <typename T> REDUCTION_INLINE void copy_word(T* to, const T* from) {
  static_assert((sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) == sizeof(T));
  // The compiler takes for granted that they are aligned, so that its hooks need not tell.
  if (reinterpret_cast<std::uintptr_t>(from) % sizeof(T) != 0) refuse_misaligned(from, sizeof(T), false);
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(T) != 0) refuse_misaligned(to, sizeof(T), true);
  if constexpr (sizeof(T) == 8) {
    *reinterpret_cast<Word8*>(to) = *reinterpret_cast<const Word8*>(from);
  } else {
    *reinterpret_cast<Word16*>(to) = *reinterpret_cast<const Word16*>(from);
  }
}

/// CUDA's vectors of two, such as float2.
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

/// CUDA's vectors of four words, such as float4.
template <typename T> struct alignas(16) VectorOfFour {
  static_assert(sizeof(T) == 4);
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

struct int3 {
  int x, y, z;
};
struct float3 {
  float x, y, z;
};

}  // namespace reduction::emulated

using int2 = reduction::emulated::VectorOfTwo<int>;
using uint2 = reduction::emulated::VectorOfTwo<unsigned>;
using float2 = reduction::emulated::VectorOfTwo<float>;
using longlong2 = reduction::emulated::VectorOfTwo<long long>;
using ulonglong2 = reduction::emulated::VectorOfTwo<unsigned long long>;
using double2 = reduction::emulated::VectorOfTwo<double>;
using int4 = reduction::emulated::VectorOfFour<int>;
using uint4 = reduction::emulated::VectorOfFour<unsigned>;
using float4 = reduction::emulated::VectorOfFour<float>;

using reduction::emulated::float3;
using reduction::emulated::int3;

inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
