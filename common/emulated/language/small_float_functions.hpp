#pragma once
/// \file
/// CUDA's functions of half and __nv_bfloat16, and of pairs of them. (CUDA Math API, "Half Precision" and "Bfloat16 Precision
/// Intrinsics".) What has the same name for both formats is a template.

#include <cmath>
#include <concepts>

#include "emulated/language/rounding.hpp"
#include "emulated/language/small_floats.hpp"
#include "emulated/language/vectors.hpp"

// ---- arithmetic ----

template <__emulated::SmallPair T> T operator+(T a, T b) { return {a.x + b.x, a.y + b.y}; }
template <__emulated::SmallPair T> T operator-(T a, T b) { return {a.x - b.x, a.y - b.y}; }
template <__emulated::SmallPair T> T operator*(T a, T b) { return {a.x * b.x, a.y * b.y}; }
template <__emulated::SmallPair T> T operator/(T a, T b) { return {a.x / b.x, a.y / b.y}; }
template <__emulated::SmallPair T> T operator+(T a) { return a; }
template <__emulated::SmallPair T> T operator-(T a) { return {-a.x, -a.y}; }
template <__emulated::SmallPair T> T& operator+=(T& a, T b) { return a = a + b; }
template <__emulated::SmallPair T> T& operator-=(T& a, T b) { return a = a - b; }
template <__emulated::SmallPair T> T& operator*=(T& a, T b) { return a = a * b; }
template <__emulated::SmallPair T> T& operator/=(T& a, T b) { return a = a / b; }

namespace __emulated {

/// Held between 0 and 1; NaN becomes 0.
template <Small T> T saturated(T value) { return __saturatef(value); }
/// Not below 0; NaN stays.
template <Small T> T rectified(T value) { return value < T{0.0F} ? T{0.0F} : value; }

}  // namespace __emulated

template <__emulated::Small T> T __hadd(T a, T b) { return a + b; }
template <__emulated::Small T> T __hsub(T a, T b) { return a - b; }
template <__emulated::Small T> T __hmul(T a, T b) { return a * b; }
template <__emulated::Small T> T __hdiv(T a, T b) { return a / b; }
/// Rounded once: a double holds the product.
template <__emulated::Small T> T __hfma(T a, T b, T c) {
  return T{__emulated::odd_sum(double{float{a}} * double{float{b}}, double{float{c}})};
}
template <__emulated::Small T> T __hneg(T a) { return -a; }
template <__emulated::Small T> T __habs(T a) { return T::of_bits(a.bits() & 0x7fff); }
/// Of a number and NaN the number. Of zeros +0 is the larger one. (fmax leaves this open, and what it makes of signalling NaN.)
template <__emulated::Small T> T __hmax(T a, T b) {
  if (float{a} == 0 && float{b} == 0) return T::of_bits(a.bits() & b.bits());
  return std::isnan(float{b}) || float{a} > float{b} ? float{a} : float{b};
}
template <__emulated::Small T> T __hmin(T a, T b) {
  if (float{a} == 0 && float{b} == 0) return T::of_bits(a.bits() | b.bits());
  return std::isnan(float{b}) || float{a} < float{b} ? float{a} : float{b};
}
/// NaN if either is.
template <__emulated::Small T> T __hmax_nan(T a, T b) {
  return std::isunordered(float{a}, float{b}) ? float{a} + float{b} : float{__hmax(a, b)};
}
template <__emulated::Small T> T __hmin_nan(T a, T b) {
  return std::isunordered(float{a}, float{b}) ? float{a} + float{b} : float{__hmin(a, b)};
}

template <__emulated::Small T> T __hfma_sat(T a, T b, T c) { return __emulated::saturated(__hfma(a, b, c)); }
template <__emulated::Small T> T __hfma_relu(T a, T b, T c) { return __emulated::rectified(__hfma(a, b, c)); }

// Of pairs, a function of their numbers. (No function makes names of a name.)
#define __EMULATED_OF_PAIRS(name, of_numbers)                                    \
  template <__emulated::SmallPair T> T name(T a, std::same_as<T> auto... more) { \
    return {of_numbers(a.x, more.x...), of_numbers(a.y, more.y...)};             \
  }
// Never merged into a fused operation, which nothing is here.
#define __EMULATED_OF_TWO(name)                                                                       \
  template <__emulated::Small T> T name##_rn(T a, T b) { return name(a, b); }                         \
  template <__emulated::Small T> T name##_sat(T a, T b) { return __emulated::saturated(name(a, b)); } \
  __EMULATED_OF_PAIRS(name##2, name)                                                                  \
  __EMULATED_OF_PAIRS(name##2_rn, name)                                                               \
  __EMULATED_OF_PAIRS(name##2_sat, name##_sat)
__EMULATED_OF_TWO(__hadd)
__EMULATED_OF_TWO(__hsub)
__EMULATED_OF_TWO(__hmul)
__EMULATED_OF_PAIRS(__h2div, __hdiv)
__EMULATED_OF_PAIRS(__hneg2, __hneg)
__EMULATED_OF_PAIRS(__habs2, __habs)
__EMULATED_OF_PAIRS(__hfma2, __hfma)
__EMULATED_OF_PAIRS(__hfma2_sat, __hfma_sat)
__EMULATED_OF_PAIRS(__hfma2_relu, __hfma_relu)
__EMULATED_OF_PAIRS(__hmax2, __hmax)
__EMULATED_OF_PAIRS(__hmin2, __hmin)
__EMULATED_OF_PAIRS(__hmax2_nan, __hmax_nan)
__EMULATED_OF_PAIRS(__hmin2_nan, __hmin_nan)
#undef __EMULATED_OF_TWO

/// a * b + c of complex numbers.
template <__emulated::SmallPair T> T __hcmadd(T a, T b, T c) {
  return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
}

// ---- comparisons: false if a number is NaN, and with `u` true ----

// Of pairs as 1 and 0, as masks, and whether it holds for both.
#define __EMULATED_PAIRS_COMPARED(name)                                                     \
  template <__emulated::SmallPair T> T __h##name##2(T a, T b) {                             \
    return {__h##name(a.x, b.x) ? 1.0F : 0.0F, __h##name(a.y, b.y) ? 1.0F : 0.0F};          \
  }                                                                                         \
  template <__emulated::SmallPair T> unsigned __h##name##2_mask(T a, T b) {                 \
    return (__h##name(a.x, b.x) ? 0xffffU : 0U) | (__h##name(a.y, b.y) ? 0xffff0000U : 0U); \
  }                                                                                         \
  template <__emulated::SmallPair T> bool __hb##name##2(T a, T b) {                         \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                      \
  }
#define __EMULATED_COMPARISON(name, comparison)                                   \
  template <__emulated::Small T> bool __h##name(T a, T b) {                       \
    return !std::isunordered(float{a}, float{b}) && float{a} comparison float{b}; \
  }                                                                               \
  template <__emulated::Small T> bool __h##name##u(T a, T b) {                    \
    return std::isunordered(float{a}, float{b}) || float{a} comparison float{b};  \
  }                                                                               \
  __EMULATED_PAIRS_COMPARED(name)                                                 \
  __EMULATED_PAIRS_COMPARED(name##u)
__EMULATED_COMPARISON(eq, ==)
__EMULATED_COMPARISON(ne, !=)
__EMULATED_COMPARISON(lt, <)
__EMULATED_COMPARISON(le, <=)
__EMULATED_COMPARISON(gt, >)
__EMULATED_COMPARISON(ge, >=)
#undef __EMULATED_COMPARISON
#undef __EMULATED_PAIRS_COMPARED

// Each holds if it holds for both: pairs may be neither equal nor unequal.
template <__emulated::SmallPair T> bool operator==(T a, T b) { return __hbeq2(a, b); }
template <__emulated::SmallPair T> bool operator!=(T a, T b) { return __hbneu2(a, b); }
template <__emulated::SmallPair T> bool operator<(T a, T b) { return __hblt2(a, b); }
template <__emulated::SmallPair T> bool operator<=(T a, T b) { return __hble2(a, b); }
template <__emulated::SmallPair T> bool operator>(T a, T b) { return __hbgt2(a, b); }
template <__emulated::SmallPair T> bool operator>=(T a, T b) { return __hbge2(a, b); }

template <__emulated::Small T> bool __hisnan(T a) { return std::isnan(float{a}); }
template <__emulated::Small T> int __hisinf(T a) {
  return std::isinf(float{a}) ? (std::signbit(float{a}) ? -1 : 1) : 0;
}
template <__emulated::SmallPair T> T __hisnan2(T a) {
  return {__hisnan(a.x) ? 1.0F : 0.0F, __hisnan(a.y) ? 1.0F : 0.0F};
}

// ---- mathematical functions, computed in double and rounded ----

#define __EMULATED_OF_SMALL(name, expression)          \
  template <__emulated::Small T> T h##name(T number) { \
    const double a = float{number};                    \
    return T{expression};                              \
  }                                                    \
  __EMULATED_OF_PAIRS(h2##name, h##name)
__EMULATED_OF_SMALL(sqrt, std::sqrt(a))
__EMULATED_OF_SMALL(rsqrt, 1 / std::sqrt(a))
__EMULATED_OF_SMALL(rcp, 1 / a)
__EMULATED_OF_SMALL(exp, std::exp(a))
__EMULATED_OF_SMALL(exp2, std::exp2(a))
__EMULATED_OF_SMALL(exp10, std::pow(10.0, a))
__EMULATED_OF_SMALL(log, std::log(a))
__EMULATED_OF_SMALL(log2, std::log2(a))
__EMULATED_OF_SMALL(log10, std::log10(a))
__EMULATED_OF_SMALL(sin, std::sin(a))
__EMULATED_OF_SMALL(cos, std::cos(a))
__EMULATED_OF_SMALL(tanh, std::tanh(a))
__EMULATED_OF_SMALL(tanh_approx, std::tanh(a))
__EMULATED_OF_SMALL(ceil, std::ceil(a))
__EMULATED_OF_SMALL(floor, std::floor(a))
__EMULATED_OF_SMALL(trunc, std::trunc(a))
__EMULATED_OF_SMALL(rint, std::nearbyint(a))
#undef __EMULATED_OF_SMALL
#undef __EMULATED_OF_PAIRS

// ---- conversions ----

namespace __emulated {

/// The greatest number of the format that is not above `value`: the nearest one, or the one before it.
template <Small T> T rounded_down(double value) {
  const T nearest{value};
  if (!(double{float{nearest}} > value)) return nearest;
  if (nearest.bits() == 0) return T::of_bits(0x8001);
  return T::of_bits(static_cast<std::uint16_t>(nearest.bits() + (std::signbit(float{nearest}) ? 1 : -1)));
}
template <Small T> T rounded_up(double value) { return -rounded_down<T>(-value); }
template <Small T> T rounded_to_zero(double value) {
  return std::signbit(value) ? rounded_up<T>(value) : rounded_down<T>(value);
}

// A double, which holds the number or rounds it to odd.
inline double widened(double value) { return value; }
inline double widened(std::integral auto value) { return odd_double(value); }

}  // namespace __emulated

#define __EMULATED_TO_SMALL(T, name, From)                                                              \
  inline T name##_rn(From value) { return T{__emulated::widened(value)}; }                              \
  inline T name##_rz(From value) { return __emulated::rounded_to_zero<T>(__emulated::widened(value)); } \
  inline T name##_rd(From value) { return __emulated::rounded_down<T>(__emulated::widened(value)); }    \
  inline T name##_ru(From value) { return __emulated::rounded_up<T>(__emulated::widened(value)); }
#define __EMULATED_CONVERSIONS(T, name)                                       \
  __EMULATED_TO_SMALL(T, __float2##name, float)                               \
  __EMULATED_TO_SMALL(T, __short2##name, short)                               \
  __EMULATED_TO_SMALL(T, __ushort2##name, unsigned short)                     \
  __EMULATED_TO_SMALL(T, __int2##name, int)                                   \
  __EMULATED_TO_SMALL(T, __uint2##name, unsigned)                             \
  __EMULATED_TO_SMALL(T, __ll2##name, long long)                              \
  __EMULATED_TO_SMALL(T, __ull2##name, unsigned long long)                    \
  __EMULATED_TO_WHOLE(short, __##name##2short, T, float)                      \
  __EMULATED_TO_WHOLE(unsigned short, __##name##2ushort, T, float)            \
  __EMULATED_TO_WHOLE(int, __##name##2int, T, float)                          \
  __EMULATED_TO_WHOLE(unsigned, __##name##2uint, T, float)                    \
  __EMULATED_TO_WHOLE(long long, __##name##2ll, T, float)                     \
  __EMULATED_TO_WHOLE(unsigned long long, __##name##2ull, T, float)           \
  inline float __##name##2float(T value) { return value; }                    \
  inline T __float2##name(float value) { return value; }                      \
  inline T __double2##name(double value) { return value; }                    \
  inline signed char __##name##2char_rz(T value) {                            \
    return __emulated::whole_number<signed char>(std::trunc(float{value}));   \
  }                                                                           \
  inline unsigned char __##name##2uchar_rz(T value) {                         \
    return __emulated::whole_number<unsigned char>(std::trunc(float{value})); \
  }
// Bits, and pairs: `name` is half or bfloat16.
#define __EMULATED_PAIRS(T, Pair, name)                                                           \
  inline unsigned short __##name##_as_ushort(T value) { return value.bits(); }                    \
  inline T __ushort_as_##name(unsigned short bits) { return T::of_bits(bits); }                   \
  inline short __##name##_as_short(T value) { return static_cast<short>(value.bits()); }          \
  inline T __short_as_##name(short bits) { return T::of_bits(static_cast<std::uint16_t>(bits)); } \
  inline Pair __float2##name##2_rn(float value) { return {value, value}; }                        \
  inline Pair __floats2##name##2_rn(float x, float y) { return {x, y}; }                          \
  inline Pair __float22##name##2_rn(float2 value) { return {value.x, value.y}; }                  \
  inline float2 __##name##22float2(Pair value) { return {value.x, value.y}; }                     \
  inline Pair __##name##2##name##2(T value) { return {value, value}; }                            \
  inline Pair __halves2##name##2(T x, T y) { return {x, y}; }                                     \
  inline Pair __lows2##name##2(Pair a, Pair b) { return {a.x, b.x}; }                             \
  inline Pair __highs2##name##2(Pair a, Pair b) { return {a.y, b.y}; }                            \
  inline T __low2##name(Pair value) { return value.x; }                                           \
  inline T __high2##name(Pair value) { return value.y; }                                          \
  inline Pair __low2##name##2(Pair value) { return {value.x, value.x}; }                          \
  inline Pair __high2##name##2(Pair value) { return {value.y, value.y}; }                         \
  inline Pair __lowhigh2highlow(Pair value) { return {value.y, value.x}; }                        \
  inline float __low2float(Pair value) { return value.x; }                                        \
  inline float __high2float(Pair value) { return value.y; }

__EMULATED_CONVERSIONS(__half, half)
__EMULATED_PAIRS(__half, __half2, half)
inline __half2 make_half2(__half x, __half y) { return {x, y}; }

__EMULATED_CONVERSIONS(__nv_bfloat16, bfloat16)
__EMULATED_PAIRS(__nv_bfloat16, __nv_bfloat162, bfloat16)
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }

#undef __EMULATED_PAIRS
#undef __EMULATED_CONVERSIONS
#undef __EMULATED_TO_WHOLE
#undef __EMULATED_TO_SMALL
