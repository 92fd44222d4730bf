#pragma once
/// \file
/// CUDA's arithmetic and conversions whose names say how they round: rn to the nearest, ties to even; rz towards zero; rd
/// down; ru up. (CUDA Math API, "Single Precision Intrinsics", "Double Precision Intrinsics" and "Type Casting Intrinsics".)

#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

namespace __emulated {

/// The value, which the compiler cannot know before.
template <typename T> T known_at_run_time(T value) {
  const volatile T held = value;
  return held;
}

/// `operation` of these numbers as `mode` of `<cfenv>` rounds it. Compilers take it that all is rounded to the nearest, and may
/// compute at any time: volatile keeps the operation between the two changes of the mode.
template <typename Operation, typename... Numbers>
auto rounded(int mode, Operation operation, Numbers... numbers) {
  const int before = std::fegetround();
  std::fesetround(mode);
  const auto result = known_at_run_time(operation(known_at_run_time(numbers)...));
  std::fesetround(before);
  return result;
}

inline constexpr auto add = [](auto a, auto b) { return a + b; };
inline constexpr auto subtract = [](auto a, auto b) { return a - b; };
inline constexpr auto multiply = [](auto a, auto b) { return a * b; };
inline constexpr auto divide = [](auto a, auto b) { return a / b; };
inline constexpr auto multiply_and_add = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
inline constexpr auto take_root = [](auto value) { return std::sqrt(value); };
inline constexpr auto invert = [](auto value) { return 1 / value; };
inline constexpr auto to_float = [](auto value) { return static_cast<float>(value); };
inline constexpr auto to_double = [](auto value) { return static_cast<double>(value); };

/// As a GPU converts (PTX ISA, cvt): what does not fit becomes the nearest number that does. NaN becomes 0, but where one of
/// the two types has 64 bits the upper half's first number.
template <typename To, typename From> To whole_number(From integer) {
  if (std::isnan(integer))
    return sizeof(From) < 8 && sizeof(To) < 8
               ? 0
               : static_cast<To>(std::make_unsigned_t<To>{1} << (8 * sizeof(To) - 1));
  if (integer <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (integer >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(integer);
}

}  // namespace __emulated

// name_rn and its like: an operation on the parameters, whose names follow. (No function makes names of a name.)
#define __EMULATED_ROUNDED(Result, name, operation, parameters, ...)                \
  inline Result name##_rn parameters { return __emulated::operation(__VA_ARGS__); } \
  inline Result name##_rz parameters {                                              \
    return __emulated::rounded(FE_TOWARDZERO, __emulated::operation, __VA_ARGS__);  \
  }                                                                                 \
  inline Result name##_rd parameters {                                              \
    return __emulated::rounded(FE_DOWNWARD, __emulated::operation, __VA_ARGS__);    \
  }                                                                                 \
  inline Result name##_ru parameters {                                              \
    return __emulated::rounded(FE_UPWARD, __emulated::operation, __VA_ARGS__);      \
  }

__EMULATED_ROUNDED(float, __fadd, add, (float a, float b), a, b)
__EMULATED_ROUNDED(float, __fsub, subtract, (float a, float b), a, b)
__EMULATED_ROUNDED(float, __fmul, multiply, (float a, float b), a, b)
__EMULATED_ROUNDED(float, __fdiv, divide, (float a, float b), a, b)
__EMULATED_ROUNDED(float, __fmaf, multiply_and_add, (float a, float b, float c), a, b, c)
__EMULATED_ROUNDED(float, __fsqrt, take_root, (float value), value)
__EMULATED_ROUNDED(float, __frcp, invert, (float value), value)
inline float __frsqrt_rn(float value) { return static_cast<float>(1 / std::sqrt(double{value})); }

__EMULATED_ROUNDED(double, __dadd, add, (double a, double b), a, b)
__EMULATED_ROUNDED(double, __dsub, subtract, (double a, double b), a, b)
__EMULATED_ROUNDED(double, __dmul, multiply, (double a, double b), a, b)
__EMULATED_ROUNDED(double, __ddiv, divide, (double a, double b), a, b)
__EMULATED_ROUNDED(double, __fma, multiply_and_add, (double a, double b, double c), a, b, c)
__EMULATED_ROUNDED(double, __dsqrt, take_root, (double value), value)
__EMULATED_ROUNDED(double, __drcp, invert, (double value), value)

__EMULATED_ROUNDED(float, __double2float, to_float, (double value), value)
__EMULATED_ROUNDED(float, __int2float, to_float, (int value), value)
__EMULATED_ROUNDED(float, __uint2float, to_float, (unsigned value), value)
__EMULATED_ROUNDED(float, __ll2float, to_float, (long long value), value)
__EMULATED_ROUNDED(float, __ull2float, to_float, (unsigned long long value), value)
__EMULATED_ROUNDED(double, __ll2double, to_double, (long long value), value)
__EMULATED_ROUNDED(double, __ull2double, to_double, (unsigned long long value), value)
inline double __int2double_rn(int value) { return value; }
inline double __uint2double_rn(unsigned value) { return value; }
#undef __EMULATED_ROUNDED

// Of a number that is computed as a Real.
#define __EMULATED_TO_WHOLE(To, name, From, Real)                                                       \
  inline To name##_rn(From value) { return __emulated::whole_number<To>(std::nearbyint(Real{value})); } \
  inline To name##_rz(From value) { return __emulated::whole_number<To>(std::trunc(Real{value})); }     \
  inline To name##_rd(From value) { return __emulated::whole_number<To>(std::floor(Real{value})); }     \
  inline To name##_ru(From value) { return __emulated::whole_number<To>(std::ceil(Real{value})); }

__EMULATED_TO_WHOLE(int, __float2int, float, float)
__EMULATED_TO_WHOLE(unsigned, __float2uint, float, float)
__EMULATED_TO_WHOLE(long long, __float2ll, float, float)
__EMULATED_TO_WHOLE(unsigned long long, __float2ull, float, float)
__EMULATED_TO_WHOLE(int, __double2int, double, double)
__EMULATED_TO_WHOLE(unsigned, __double2uint, double, double)
__EMULATED_TO_WHOLE(long long, __double2ll, double, double)
__EMULATED_TO_WHOLE(unsigned long long, __double2ull, double, double)
