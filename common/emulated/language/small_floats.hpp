#pragma once
/// \file
/// CUDA's numbers of 16 bits, half and __nv_bfloat16, by their bits: compilers that kernels are compiled with here have them
/// under various names or, like clang 14 on x86-64, not at all. The sum, difference, product or quotient of two such numbers,
/// computed in float and rounded once more, is what the hardware computes: float has more than twice their digits.

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "emulated/language/atomic_operations.hpp"
#include "emulated/language/intrinsics.hpp"
#include "emulated/language/vectors.hpp"

namespace __emulated::types {

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

}  // namespace __emulated::types

namespace __emulated {

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

namespace types {

/// What the struct `Number`, a number in this format, derives from. \tparam Raw  its bits alone, as CUDA has them.
template <typename Number, typename Format, typename Raw> class SmallFloat {
 public:
  SmallFloat() = default;
  SmallFloat(float value) : bits_{Format::rounded(value)} {}
  SmallFloat(double value) : bits_{Format::rounded(odd_float(value))} {}
  SmallFloat(std::integral auto value) : SmallFloat{odd_double(value)} {}
  SmallFloat(Raw raw) : bits_{raw.x} {}
  operator Raw() const { return {bits_}; }

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
  friend bool operator<(Number a, Number b) { return float{a} < float{b}; }
  friend bool operator>(Number a, Number b) { return float{a} > float{b}; }
  friend bool operator<=(Number a, Number b) { return float{a} <= float{b}; }
  friend bool operator>=(Number a, Number b) { return float{a} >= float{b}; }

 private:
  std::uint16_t bits_;
};

}  // namespace types
}  // namespace __emulated

// Structs, as CUDA's are: a header that includes neither of CUDA's two may declare them.
struct __half_raw {
  unsigned short x;
};
struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __half : __emulated::types::SmallFloat<__half, __emulated::types::Binary16, __half_raw> {
  using SmallFloat::SmallFloat;
};
struct __nv_bfloat16
    : __emulated::types::SmallFloat<__nv_bfloat16, __emulated::types::Brain16, __nv_bfloat16_raw> {
  using SmallFloat::SmallFloat;
};
struct __half2 : __emulated::types::VectorOfTwo<__half> {
  using VectorOfTwo::VectorOfTwo;
};
struct __nv_bfloat162 : __emulated::types::VectorOfTwo<__nv_bfloat16> {
  using VectorOfTwo::VectorOfTwo;
};
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

namespace __emulated {

template <typename T>
concept Small = OneOf<T, __half, __nv_bfloat16>;
template <typename T>
concept SmallPair = OneOf<T, __half2, __nv_bfloat162>;

}  // namespace __emulated

// ---- atomic addition ----

template <typename Address, __emulated::Small T = __emulated::Pointed<Address>>
__EMULATED_INLINE T atomicAdd(Address address, std::type_identity_t<T> value) {
  return __emulated::update_atomically<T>(address, [=](T before) { return before + value; });
}
/// Not indivisible as a whole: each component is.
template <typename Address, __emulated::SmallPair T = __emulated::Pointed<Address>>
__EMULATED_INLINE T atomicAdd(Address address, std::type_identity_t<T> value) {
  T* const pair = address;
  return T{atomicAdd(&pair->x, value.x), atomicAdd(&pair->y, value.y)};
}
