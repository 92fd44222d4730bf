#pragma once
/// \file
/// CUDA's functions of one thread that a host compiler does not have: whole numbers, conversions, arithmetic and loads with a
/// hint for caches. (CUDA C++ Programming Guide, "Mathematical Functions"; CUDA Math API, "Intrinsics".) The fast
/// approximations of a GPU are the exact functions here.

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "device/emulated/word.hpp"

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

inline int __mulhi(int a, int b) { return static_cast<int>(std::int64_t{a} * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
/// Of the low 24 bits; the low 32 bits of the product.
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
inline int __mul24(int a, int b) {
  const auto low = [](int value) { return static_cast<int>(static_cast<unsigned>(value) << 8) >> 8; };
  return static_cast<int>(static_cast<unsigned>(low(a)) * static_cast<unsigned>(low(b)));
}

// ---- words of several small integers ----

namespace reduction::emulated {

/// The number-th integer of a word, counted from its lowest bits.
template <typename T, typename Word> T part_of(Word word, unsigned number) {
  return static_cast<T>(static_cast<unsigned>(word) >> number * 8 * sizeof(T));
}

/// `operation` of the integers that two words have at the same places.
template <typename T> unsigned of_each_part(unsigned a, unsigned b, T (*operation)(T, T)) {
  unsigned result = 0;
  for (unsigned k = 0; k < 4 / sizeof(T); ++k) {
    const T part = operation(part_of<T>(a, k), part_of<T>(b, k));
    result |= unsigned{static_cast<std::make_unsigned_t<T>>(part)} << k * 8 * sizeof(T);
  }
  return result;
}

/// The dot product of the integers A of a word with as many integers B of another, from number `first` on, added to `sum`.
template <typename A, typename B, typename Word>
Word dot_product(Word a, Word b, Word sum, unsigned first = 0) {
  auto result = static_cast<unsigned>(sum);
  for (unsigned k = 0; k < 4 / sizeof(A); ++k)
    result += static_cast<unsigned>(int{part_of<A>(a, k)} * int{part_of<B>(b, first + k)});
  return static_cast<Word>(result);
}

}  // namespace reduction::emulated

inline unsigned __vmins2(unsigned a, unsigned b) {
  return reduction::emulated::of_each_part<std::int16_t>(a, b, min);
}
inline unsigned __vmaxs2(unsigned a, unsigned b) {
  return reduction::emulated::of_each_part<std::int16_t>(a, b, max);
}
inline unsigned __vminu2(unsigned a, unsigned b) {
  return reduction::emulated::of_each_part<std::uint16_t>(a, b, min);
}
inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return reduction::emulated::of_each_part<std::uint16_t>(a, b, max);
}
inline unsigned __vmins4(unsigned a, unsigned b) {
  return reduction::emulated::of_each_part<std::int8_t>(a, b, min);
}
inline unsigned __vmaxs4(unsigned a, unsigned b) {
  return reduction::emulated::of_each_part<std::int8_t>(a, b, max);
}
inline unsigned __vminu4(unsigned a, unsigned b) {
  return reduction::emulated::of_each_part<std::uint8_t>(a, b, min);
}
inline unsigned __vmaxu4(unsigned a, unsigned b) {
  return reduction::emulated::of_each_part<std::uint8_t>(a, b, max);
}

inline int __dp4a(int a, int b, int sum) {
  return reduction::emulated::dot_product<std::int8_t, std::int8_t>(a, b, sum);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  return reduction::emulated::dot_product<std::uint8_t, std::uint8_t>(a, b, sum);
}
/// With the lower, or the upper, two bytes of b.
inline int __dp2a_lo(int a, int b, int sum) {
  return reduction::emulated::dot_product<std::int16_t, std::int8_t>(a, b, sum);
}
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum) {
  return reduction::emulated::dot_product<std::uint16_t, std::uint8_t>(a, b, sum);
}
inline int __dp2a_hi(int a, int b, int sum) {
  return reduction::emulated::dot_product<std::int16_t, std::int8_t>(a, b, sum, 2);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned sum) {
  return reduction::emulated::dot_product<std::uint16_t, std::uint8_t>(a, b, sum, 2);
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

// ---- conversions: rn to the nearest, ties to even; rz towards zero; rd down; ru up ----

namespace reduction::emulated {

/// As a GPU converts: what does not fit becomes the nearest number that does, and NaN becomes 0.
template <typename To, typename From> To whole_number(From rounded) {
  if (std::isnan(rounded)) return 0;
  if (rounded <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (rounded >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(rounded);
}

}  // namespace reduction::emulated

inline int __float2int_rn(float value) {
  return reduction::emulated::whole_number<int>(std::nearbyint(value));
}
inline int __float2int_rz(float value) { return reduction::emulated::whole_number<int>(std::trunc(value)); }
inline int __float2int_rd(float value) { return reduction::emulated::whole_number<int>(std::floor(value)); }
inline int __float2int_ru(float value) { return reduction::emulated::whole_number<int>(std::ceil(value)); }
inline unsigned __float2uint_rn(float value) {
  return reduction::emulated::whole_number<unsigned>(std::nearbyint(value));
}
inline unsigned __float2uint_rz(float value) {
  return reduction::emulated::whole_number<unsigned>(std::trunc(value));
}
inline unsigned __float2uint_rd(float value) {
  return reduction::emulated::whole_number<unsigned>(std::floor(value));
}
inline unsigned __float2uint_ru(float value) {
  return reduction::emulated::whole_number<unsigned>(std::ceil(value));
}
inline int __double2int_rn(double value) {
  return reduction::emulated::whole_number<int>(std::nearbyint(value));
}
inline int __double2int_rz(double value) { return reduction::emulated::whole_number<int>(std::trunc(value)); }
inline long long __double2ll_rn(double value) {
  return reduction::emulated::whole_number<long long>(std::nearbyint(value));
}
inline long long __double2ll_rz(double value) {
  return reduction::emulated::whole_number<long long>(std::trunc(value));
}
inline float __int2float_rn(int value) { return static_cast<float>(value); }
inline float __uint2float_rn(unsigned value) { return static_cast<float>(value); }
inline float __ll2float_rn(long long value) { return static_cast<float>(value); }
inline float __ull2float_rn(unsigned long long value) { return static_cast<float>(value); }
inline float __double2float_rn(double value) { return static_cast<float>(value); }
inline double __int2double_rn(int value) { return value; }
inline double __uint2double_rn(unsigned value) { return value; }
inline double __ll2double_rn(long long value) { return static_cast<double>(value); }

// ---- arithmetic ----

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fsqrt_rn(float value) { return std::sqrt(value); }
inline float __frcp_rn(float value) { return 1 / value; }
inline float __frsqrt_rn(float value) { return static_cast<float>(1 / std::sqrt(double{value})); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline double __dsqrt_rn(double value) { return std::sqrt(value); }
// Templates give way to functions of a program's own: NVIDIA's helper_math.h has some where another compiler than nvcc
// reads it.
template <typename = void> float rsqrtf(float value) { return __frsqrt_rn(value); }
template <typename = void> double rsqrt(double value) { return 1 / std::sqrt(value); }
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
/// The value held between 0 and 1; NaN becomes 0.
inline float __saturatef(float value) { return value >= 0 ? (value < 1 ? value : 1) : 0; }

// ---- loads and stores with a hint for caches, which are not modelled ----

template <typename T> REDUCTION_INLINE T __ldg(const T* address) { return *address; }
template <typename T> REDUCTION_INLINE T __ldca(const T* address) { return *address; }
template <typename T> REDUCTION_INLINE T __ldcg(const T* address) { return *address; }
template <typename T> REDUCTION_INLINE T __ldcs(const T* address) { return *address; }
template <typename T> REDUCTION_INLINE T __ldlu(const T* address) { return *address; }
template <typename T> REDUCTION_INLINE T __ldcv(const T* address) { return *address; }
template <typename T> REDUCTION_INLINE void __stwb(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <typename T> REDUCTION_INLINE void __stcg(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <typename T> REDUCTION_INLINE void __stcs(T* address, std::type_identity_t<T> value) {
  *address = value;
}
template <typename T> REDUCTION_INLINE void __stwt(T* address, std::type_identity_t<T> value) {
  *address = value;
}
