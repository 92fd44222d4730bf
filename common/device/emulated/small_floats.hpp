#pragma once
/// \file
/// CUDA's numbers of 16 bits, half and __nv_bfloat16, by their bits: compilers that kernels are compiled with here have them
/// under various names or, like clang 14 on x86-64, not at all. The sum, difference, product or quotient of two such numbers,
/// computed in float and rounded once more, is what the hardware computes: float has more than twice their digits.

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "device/emulated/atomic_operations.hpp"
#include "device/emulated/intrinsics.hpp"
#include "device/emulated/vectors.hpp"

namespace reduction::emulated {

/// IEEE 754's binary16: 5 bits of exponent, 10 of fraction.
struct Binary16 {
  static std::uint16_t rounded(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
    const std::uint32_t magnitude = bits & 0x7fffffff;
    std::uint32_t rounded = 0;
    if (magnitude > 0x7f800000) return 0x7fff;  // not a number
    if (magnitude >= 0x477ff000) {              // 65520, which is nearer to 2^16 than to the largest number
      rounded = 0x7c00;
    } else if (magnitude < 0x38800000) {  // below 2^-14 steps have one size
      rounded = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(std::bit_cast<float>(magnitude), 24)));
    } else {
      const std::uint32_t rebiased = magnitude - 0x38000000;
      rounded = (rebiased + 0xfff + (rebiased >> 13 & 1)) >> 13;
    }
    return static_cast<std::uint16_t>(sign | rounded);
  }

  static float value_of(std::uint16_t bits) {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
    const std::uint32_t exponent = bits >> 10 & 0x1f;
    const std::uint32_t fraction = bits & 0x3ff;
    std::uint32_t magnitude = (exponent + 112) << 23 | fraction << 13;
    if (exponent == 0)
      magnitude = std::bit_cast<std::uint32_t>(std::ldexp(static_cast<float>(fraction), -24));
    if (exponent == 0x1f) magnitude = 0x7f800000 | fraction << 13;
    return std::bit_cast<float>(sign | magnitude);
  }
};

/// The upper half of a float.
struct Brain16 {
  static std::uint16_t rounded(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
  static float value_of(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

/// Of the two numbers around `nearest` + `rest`, the odd one, unless `nearest` is exact: it rounds to the same shorter number
/// as the sum (S. Boldo and G. Melquiond, Emulation of FMA and correctly rounded sums, 2008).
template <typename Bits, typename Real> Real odd(Real nearest, double rest) {
  const auto bits = std::bit_cast<Bits>(nearest);
  if (rest == 0 || !std::isfinite(nearest) || bits % 2 != 0) return nearest;
  return std::bit_cast<Real>(std::signbit(rest) == std::signbit(nearest) ? bits + 1 : bits - 1);
}

inline float odd_float(double value) {
  const auto nearest = static_cast<float>(value);
  return odd<std::uint32_t>(nearest, value - static_cast<double>(nearest));
}

/// a + b, with its error as D. E. Knuth's TwoSum finds it (The Art of Computer Programming, volume 2, 4.2.2).
inline double odd_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return odd<std::uint64_t>(sum, (a - (sum - part)) + (b - part));
}
inline double odd_double(std::integral auto value) {
  if constexpr (sizeof(value) < 8)
    return static_cast<double>(value);
  else
    return odd_sum(std::ldexp(static_cast<double>(value >> 32), 32), static_cast<double>(value & 0xffffffff));
}

/// What the struct `Number`, a number in this format, derives from.
template <typename Number, typename Format> class SmallFloat {
 public:
  SmallFloat() = default;
  SmallFloat(float value) : bits_{Format::rounded(value)} {}
  SmallFloat(double value) : bits_{Format::rounded(odd_float(value))} {}
  SmallFloat(std::integral auto value) : SmallFloat{odd_double(value)} {}

  static Number of_bits(std::uint16_t bits) {
    Number number;
    number.bits_ = bits;
    return number;
  }
  std::uint16_t bits() const { return bits_; }

  operator float() const { return Format::value_of(bits_); }

  friend Number operator+(Number a, Number b) { return float{a} + float{b}; }
  friend Number operator-(Number a, Number b) { return float{a} - float{b}; }
  friend Number operator*(Number a, Number b) { return float{a} * float{b}; }
  friend Number operator/(Number a, Number b) { return float{a} / float{b}; }
  friend Number operator+(Number a) { return a; }
  friend Number operator-(Number a) { return of_bits(a.bits() ^ 0x8000); }
  friend Number& operator+=(Number& a, Number b) { return a = a + b; }
  friend Number& operator-=(Number& a, Number b) { return a = a - b; }
  friend Number& operator*=(Number& a, Number b) { return a = a * b; }
  friend Number& operator/=(Number& a, Number b) { return a = a / b; }
  friend Number& operator++(Number& a) { return a += Number{1.0F}; }
  friend Number& operator--(Number& a) { return a -= Number{1.0F}; }

  friend bool operator==(Number a, Number b) { return float{a} == float{b}; }
  friend bool operator!=(Number a, Number b) { return float{a} != float{b}; }
  friend bool operator<(Number a, Number b) { return float{a} < float{b}; }
  friend bool operator>(Number a, Number b) { return float{a} > float{b}; }
  friend bool operator<=(Number a, Number b) { return float{a} <= float{b}; }
  friend bool operator>=(Number a, Number b) { return float{a} >= float{b}; }

 private:
  std::uint16_t bits_;
};

}  // namespace reduction::emulated

// Structs, as CUDA's are: a header that includes neither of CUDA's two may declare them.
struct __half : reduction::emulated::SmallFloat<__half, reduction::emulated::Binary16> {
  using SmallFloat::SmallFloat;
};
struct __nv_bfloat16 : reduction::emulated::SmallFloat<__nv_bfloat16, reduction::emulated::Brain16> {
  using SmallFloat::SmallFloat;
};
struct __half2 : reduction::emulated::VectorOfTwo<__half> {
  using VectorOfTwo::VectorOfTwo;
};
struct __nv_bfloat162 : reduction::emulated::VectorOfTwo<__nv_bfloat16> {
  using VectorOfTwo::VectorOfTwo;
};
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// ---- functions of one number, and of a pair, in both formats ----

namespace reduction::emulated {

template <typename T>
concept Small = OneOf<T, __half, __nv_bfloat16>;
template <typename T>
concept SmallPair = OneOf<T, __half2, __nv_bfloat162>;

}  // namespace reduction::emulated

template <reduction::emulated::Small T> T __hadd(T a, T b) { return a + b; }
template <reduction::emulated::Small T> T __hsub(T a, T b) { return a - b; }
template <reduction::emulated::Small T> T __hmul(T a, T b) { return a * b; }
template <reduction::emulated::Small T> T __hdiv(T a, T b) { return a / b; }
/// Rounded once: a double holds the product.
template <reduction::emulated::Small T> T __hfma(T a, T b, T c) {
  return T{reduction::emulated::odd_sum(double{float{a}} * double{float{b}}, double{float{c}})};
}
template <reduction::emulated::Small T> T __hneg(T a) { return -a; }
template <reduction::emulated::Small T> T __habs(T a) { return T::of_bits(a.bits() & 0x7fff); }
/// Of zeros +0 is the larger one, which fmax leaves open.
template <reduction::emulated::Small T> T __hmax(T a, T b) {
  if (float{a} == 0 && float{b} == 0) return T::of_bits(a.bits() & b.bits());
  return std::fmax(float{a}, float{b});
}
template <reduction::emulated::Small T> T __hmin(T a, T b) {
  if (float{a} == 0 && float{b} == 0) return T::of_bits(a.bits() | b.bits());
  return std::fmin(float{a}, float{b});
}
template <reduction::emulated::Small T> bool __heq(T a, T b) { return a == b; }
template <reduction::emulated::Small T> bool __hne(T a, T b) { return a != b; }
template <reduction::emulated::Small T> bool __hlt(T a, T b) { return a < b; }
template <reduction::emulated::Small T> bool __hle(T a, T b) { return a <= b; }
template <reduction::emulated::Small T> bool __hgt(T a, T b) { return a > b; }
template <reduction::emulated::Small T> bool __hge(T a, T b) { return a >= b; }
template <reduction::emulated::Small T> bool __hisnan(T a) { return std::isnan(float{a}); }
template <reduction::emulated::Small T> T hsqrt(T a) { return std::sqrt(float{a}); }
template <reduction::emulated::Small T> T hexp(T a) { return std::exp(float{a}); }

template <reduction::emulated::SmallPair T> T operator+(T a, T b) { return {a.x + b.x, a.y + b.y}; }
template <reduction::emulated::SmallPair T> T operator-(T a, T b) { return {a.x - b.x, a.y - b.y}; }
template <reduction::emulated::SmallPair T> T operator*(T a, T b) { return {a.x * b.x, a.y * b.y}; }
template <reduction::emulated::SmallPair T> T operator/(T a, T b) { return {a.x / b.x, a.y / b.y}; }
template <reduction::emulated::SmallPair T> bool operator==(T a, T b) { return a.x == b.x && a.y == b.y; }
template <reduction::emulated::SmallPair T> T __hadd2(T a, T b) { return a + b; }
template <reduction::emulated::SmallPair T> T __hsub2(T a, T b) { return a - b; }
template <reduction::emulated::SmallPair T> T __hmul2(T a, T b) { return a * b; }
template <reduction::emulated::SmallPair T> T __hfma2(T a, T b, T c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
template <reduction::emulated::SmallPair T> T __hmax2(T a, T b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
template <reduction::emulated::SmallPair T> T __hmin2(T a, T b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}

template <typename Address,
          reduction::emulated::OneOf<__half, __nv_bfloat16> T = reduction::emulated::Pointed<Address>>
REDUCTION_INLINE T atomicAdd(Address address, std::type_identity_t<T> value) {
  return reduction::emulated::update_atomically<T>(address, [=](T before) { return before + value; });
}
/// Not indivisible as a whole: each component is.
template <typename Address,
          reduction::emulated::OneOf<__half2, __nv_bfloat162> T = reduction::emulated::Pointed<Address>>
REDUCTION_INLINE T atomicAdd(Address address, std::type_identity_t<T> value) {
  T* const pair = address;
  return T{atomicAdd(&pair->x, value.x), atomicAdd(&pair->y, value.y)};
}

template <typename Address, reduction::emulated::OneOf<__half, __half2, __nv_bfloat16, __nv_bfloat162> T =
                                reduction::emulated::Pointed<Address>>
REDUCTION_INLINE T atomicAdd_block(Address address, std::type_identity_t<T> value) {
  return atomicAdd(address, value);
}
template <typename Address, reduction::emulated::OneOf<__half, __half2, __nv_bfloat16, __nv_bfloat162> T =
                                reduction::emulated::Pointed<Address>>
REDUCTION_INLINE T atomicAdd_system(Address address, std::type_identity_t<T> value) {
  return atomicAdd(address, value);
}

// ---- conversions of half ----

inline float __half2float(__half value) { return value; }
inline __half __float2half(float value) { return value; }
inline __half __float2half_rn(float value) { return value; }
inline __half __double2half(double value) { return value; }
inline __half __int2half_rn(int value) { return value; }
inline __half __uint2half_rn(unsigned value) { return value; }
inline int __half2int_rn(__half value) { return __float2int_rn(value); }
inline int __half2int_rz(__half value) { return __float2int_rz(value); }
inline unsigned short __half_as_ushort(__half value) { return value.bits(); }
inline __half __ushort_as_half(unsigned short bits) { return __half::of_bits(bits); }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half value) { return {value, value}; }
inline __half2 __float2half2_rn(float value) { return {value, value}; }
inline __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
inline __half2 __float22half2_rn(float2 value) { return {value.x, value.y}; }
inline float2 __half22float2(__half2 value) { return {value.x, value.y}; }
inline __half __low2half(__half2 value) { return value.x; }
inline __half __high2half(__half2 value) { return value.y; }
inline float __low2float(__half2 value) { return value.x; }
inline float __high2float(__half2 value) { return value.y; }

// ---- conversions of bfloat16 ----

inline float __bfloat162float(__nv_bfloat16 value) { return value; }
inline __nv_bfloat16 __float2bfloat16(float value) { return value; }
inline __nv_bfloat16 __float2bfloat16_rn(float value) { return value; }
inline __nv_bfloat16 __double2bfloat16(double value) { return value; }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.bits(); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::of_bits(bits); }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __float2bfloat162_rn(float value) { return {value, value}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 value) { return {value.x, value.y}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 value) { return value.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 value) { return value.y; }
