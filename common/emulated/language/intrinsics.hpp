#pragma once
/// \file
/// CUDA's functions of one thread that a host compiler does not have: of whole numbers and bits, fast approximations, loads
/// with a hint for caches, and in files of their own packed integers, arithmetic in a direction of rounding, and
/// mathematical functions. (CUDA C++ Programming Guide, "Mathematical Functions"; CUDA Math API, "Intrinsics".) The fast
/// approximations of a GPU are the exact functions here.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "emulated/language/mathematical_functions.hpp"
#include "emulated/language/packed_integers.hpp"
#include "emulated/language/rounding.hpp"
#include "emulated/memory/word.hpp"

// From C++20 on <math.h> has a lerp, and NVIDIA's helper_math.h has its own: here it brings another name in twice instead.
#define lerp fma
#include <math.h>
#undef lerp

using std::abs;  // of all types: the C library has it of int alone

template <typename A, typename B> constexpr std::common_type_t<A, B> min(A a, B b) { return b < a ? b : a; }
template <typename A, typename B> constexpr std::common_type_t<A, B> max(A a, B b) { return a < b ? b : a; }

inline unsigned umin(unsigned a, unsigned b) { return min(a, b); }
inline unsigned umax(unsigned a, unsigned b) { return max(a, b); }
inline long long llmin(long long a, long long b) { return min(a, b); }
inline long long llmax(long long a, long long b) { return max(a, b); }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

// ---- bits of whole numbers ----

inline int __popc(unsigned bits) { return std::popcount(bits); }
inline int __popcll(unsigned long long bits) { return std::popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
inline int __clz(int bits) { return std::countl_zero(static_cast<unsigned>(bits)); }
inline int __clzll(long long bits) { return std::countl_zero(static_cast<unsigned long long>(bits)); }

inline unsigned __brev(unsigned bits) {
  unsigned reversed = 0;
  for (unsigned i = 0; i < 32; ++i)
    reversed |= (bits >> i & 1) << (31 - i);
  return reversed;
}
inline unsigned long long __brevll(unsigned long long bits) {
  const unsigned long long high = __brev(static_cast<unsigned>(bits));
  return high << 32 | __brev(static_cast<unsigned>(bits >> 32));
}

/// Four bytes of the eight that `low` and `high` have, as the digits of `selector` say.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  unsigned chosen = 0;
  for (unsigned i = 0; i < 4; ++i)
    chosen |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7) * 8 & 0xff) << 8 * i;
  return chosen;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}

/// By at most 32 bits, where the two above shift by the remainder.
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << min(shift, 32U) >> 32);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> min(shift, 32U));
}
/// Where the offset-th bit of `mask` is that is set, counted from bit `base` upwards, or downwards if `offset` is negative;
/// 0xffffffff if there is none. Offset 0 asks for bit `base` itself.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  const unsigned step = offset < 0 ? -1U : 1U;
  int more = offset == 0 ? 1 : std::abs(offset);
  for (unsigned bit = base; bit < 32; bit += step) {
    if ((mask >> bit & 1) != 0 && --more == 0) return bit;
    if (offset == 0) break;
  }
  return 0xffffffff;
}

/// |a - b| + sum
inline unsigned __sad(int a, int b, unsigned sum) {
  return (a < b ? static_cast<unsigned>(b) - static_cast<unsigned>(a)
                : static_cast<unsigned>(a) - static_cast<unsigned>(b)) +
         sum;
}
inline unsigned __usad(unsigned a, unsigned b, unsigned sum) { return (a < b ? b - a : a - b) + sum; }
/// The average, rounded down, or with `r` up.
inline int __hadd(int a, int b) { return static_cast<int>((std::int64_t{a} + b) >> 1); }
inline int __rhadd(int a, int b) { return static_cast<int>((std::int64_t{a} + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return static_cast<unsigned>((std::uint64_t{a} + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} + b + 1) >> 1);
}

inline int __mulhi(int a, int b) { return static_cast<int>(std::int64_t{a} * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(__extension__ static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(__extension__ static_cast<unsigned __int128>(a) * b >> 64);
}
/// Of the low 24 bits; the low 32 bits of the product.
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mul24(int a, int b) {
  const auto low = [](int value) { return static_cast<int>(static_cast<unsigned>(value) << 8) >> 8; };
  return static_cast<int>(static_cast<unsigned>(low(a)) * static_cast<unsigned>(low(b)));
}

// ---- the same bits as another type ----

inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
inline int __double2hiint(double value) { return static_cast<int>(std::bit_cast<std::int64_t>(value) >> 32); }
inline int __double2loint(double value) { return static_cast<int>(std::bit_cast<std::int64_t>(value)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 |
                               static_cast<unsigned>(low));
}

// ---- fast approximations ----

inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float value) { return std::exp(value); }
inline float __exp10f(float value) { return std::pow(10.0F, value); }
inline float __logf(float value) { return std::log(value); }
inline float __log2f(float value) { return std::log2(value); }
inline float __log10f(float value) { return std::log10(value); }
inline float __powf(float base, float exponent) { return std::pow(base, exponent); }
inline float __sinf(float angle) { return std::sin(angle); }
inline float __cosf(float angle) { return std::cos(angle); }
inline float __tanf(float angle) { return std::tan(angle); }
inline void __sincosf(float angle, float* sine, float* cosine) {
  *sine = std::sin(angle);
  *cosine = std::cos(angle);
}
inline float __tanhf(float value) { return std::tanh(value); }
/// The value held between 0 and 1; NaN becomes 0.
inline float __saturatef(float value) { return value > 0 ? (value < 1 ? value : 1) : 0; }

// ---- loads and stores with a hint for caches, which are not modelled ----

template <typename T> __EMULATED_INLINE T __ldg(const T* address) { return *address; }
template <typename T> __EMULATED_INLINE T __ldca(const T* address) { return *address; }
/// From the cache that all blocks share: such a load sees what another block has told of, without a fence.
template <typename T> __EMULATED_INLINE T __ldcg(const T* address) {
  T value;
  __emulated::load_from_l2(&value, address, sizeof(T));
  return value;
}
template <typename T> __EMULATED_INLINE T __ldcs(const T* address) { return *address; }
template <typename T> __EMULATED_INLINE T __ldlu(const T* address) { return *address; }
template <typename T> __EMULATED_INLINE T __ldcv(const T* address) { return __ldcg(address); }
template <typename T> __EMULATED_INLINE void __stwb(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <typename T> __EMULATED_INLINE void __stcg(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <typename T> __EMULATED_INLINE void __stcs(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <typename T> __EMULATED_INLINE void __stwt(T* address, std::type_identity_t<T> value) {
  *address = value;
}

// ---- what a program promises its compiler ----

#ifndef __clang__  // which has it
#define __builtin_assume(condition) static_cast<void>(0)
#endif
