// SPDX-License-Identifier: MIT
#pragma once
/// \file
/// CompensatedSum: an operation for reduce.cuh whose result is a sum and a bound of its error.
///
/// u is the unit roundoff, 2^-24 of float and 2^-53 of double: a sum that is rounded to r has an error of at most u |r|.
/// The host's compiler must not reorder sums (GCC's -ffast-math does); nvcc's --use_fast_math changes nothing here.

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "operations.cuh"
#include "version.cuh"

namespace reduction {

inline namespace v0_5 {

/// A number, and how far from it the exact one may be: the result of CompensatedSum.
///
/// The exact sum of the elements is in [value - error_bound, value + error_bound]; a bound of 0 says that `value` is exact.
/// The bound is infinite, and never NaN, where no number can be vouched for: an element or a sum on the way was infinite or
/// NaN, or too near to overflow to tell. So `error_bound <= tolerance` is false where the result is of no use.
template <typename T> struct Bounded {
  T value;
  T error_bound;
};

namespace traits {

// As rounded_sum of operations.cuh: instructions that neither contract nor flush.

inline __host__ __device__ float rounded_difference(float a, float b) {
#if defined(__CUDA_ARCH__) && !defined(__EMULATED_DEVICE__)
  asm("sub.rn.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
#else
  return a - b;
#endif
}

inline __host__ __device__ double rounded_difference(double a, double b) {
#if defined(__CUDA_ARCH__) && !defined(__EMULATED_DEVICE__)
  asm("sub.rn.f64 %0, %0, %1;" : "+d"(a) : "d"(b));
  return a;
#else
  return a - b;
#endif
}

inline __host__ __device__ float magnitude(float a) {
#if defined(__CUDA_ARCH__) && !defined(__EMULATED_DEVICE__)
  asm("abs.f32 %0, %0;" : "+f"(a));
  return a;
#else
  return a < 0 ? -a : a;
#endif
}

inline __host__ __device__ double magnitude(double a) {
#if defined(__CUDA_ARCH__) && !defined(__EMULATED_DEVICE__)
  asm("abs.f64 %0, %0;" : "+d"(a));
  return a;
#else
  return a < 0 ? -a : a;
#endif
}

inline __host__ __device__ bool is_zero(float a) {
#if defined(__CUDA_ARCH__) && !defined(__EMULATED_DEVICE__)
  unsigned zero = 0;
  asm("{\n\t.reg .pred zero;\n\tsetp.eq.f32 zero, %1, 0f00000000;\n\tselp.u32 %0, 1, 0, zero;\n\t}"
      : "=r"(zero)
      : "f"(a));
  return zero != 0;
#else
  return a == 0;
#endif
}

inline __host__ __device__ bool is_zero(double a) { return a == 0; }  // comparisons of doubles never flush

/// Returns a + b, rounded, and sets `error` to what the rounding took: a + b is exactly the result plus `error`, unless
/// something overflows. It never is -0. Knuth, The Art of Computer Programming, volume 2, 4.2.2, theorem B; that nothing
/// overflows but a + b, or where |a| is the largest number: Boldo, Graillat and Muller, On the robustness of the 2Sum
/// and Fast2Sum algorithms, 2017.
template <typename T> __host__ __device__ T two_sum(T a, T b, T& error) {
  const T sum = traits::rounded_sum(a, b);
  const T of_a = traits::rounded_difference(sum, b);
  const T of_b = traits::rounded_difference(sum, of_a);
  error = traits::rounded_sum(traits::rounded_difference(a, of_a), traits::rounded_difference(b, of_b));
  return sum;
}

/// Whether a T, a float or double, has all values of a From: what converts to it is not rounded.
template <typename From, typename T>
inline constexpr bool is_exact_as = is_rounded<T>&& Limits<From>::is_specialized&& Limits<From>::digits <=
                                    Limits<T>::digits&& std::is_convertible_v<From, T>;

}  // namespace traits

/// What CompensatedSum combines: a sum, and what is known of its error.
///
/// The exact sum is sum + error, but for the roundings of `error` itself. Each of them is at most u times the magnitude of
/// what the addition returned; `magnitudes` is the sum of these.
template <typename T> struct Compensated {
  T sum;         ///< as Sum has it
  T error;       ///< the exact errors of the additions to `sum`, added up
  T magnitudes;  ///< of the results of the additions to `error` that may have been rounded

  Compensated() = default;
  __host__ __device__ Compensated(T the_sum, T the_error, T the_magnitudes)
      : sum(the_sum), error(the_error), magnitudes(the_magnitudes) {}
  /// A number that a T has exactly, since the bound would not know of its rounding.
  template <typename From, typename = std::enable_if_t<traits::is_exact_as<From, T>>>
  __host__ __device__ Compensated(const From& element) : Compensated(traits::converted<T>(element), 0, 0) {}

  __host__ __device__ operator Bounded<T>() const;
};

/// The sum of floats or doubles, into a Bounded: about as exact as in twice their precision and then rounded once.
///
/// Of n numbers x with the sum s, the exact sum is within error_bound of `value`; and in the order in which reduce() adds,
/// error_bound <= 4 (u |s| + n u^2 sum of |x|). The sum of errors is Ogita, Rump and Oishi's Sum2 (Accurate sum and dot
/// product, 2005), here for any order; the bound is a running one, as they have in section 5.
///
/// Elements and init: what a T has exactly. For a Bounded<float> int8 to int16, __half, __nv_bfloat16 and float, for a
/// Bounded<double> also 32-bit integers and double.
struct CompensatedSum {
  template <typename T>
  __host__ __device__ Compensated<T> operator()(const Compensated<T>& a, const Compensated<T>& b) const {
    T lost;
    const T sum = traits::two_sum(a.sum, b.sum, lost);
    const T errors = traits::rounded_sum(a.error, b.error);
    const T error = traits::rounded_sum(errors, lost);
    T magnitudes = traits::rounded_sum(a.magnitudes, b.magnitudes);
    // Adding 0 is exact. Without this condition the bound would grow with each identity.
    const bool a_is_exact = traits::is_zero(a.error);
    const bool b_is_exact = traits::is_zero(b.error);
    const bool sum_is_exact = traits::is_zero(lost);
    if (!(a_is_exact | b_is_exact) | !sum_is_exact)
      magnitudes = traits::rounded_sum(
          magnitudes, traits::rounded_sum(traits::magnitude(errors), traits::magnitude(error)));
    return {sum, error, magnitudes};
  }

  /// For each finite x, operator() of the identity and x is x to the bit: no error is ever -0.
  template <typename A, typename T = decltype(A::magnitudes)> static __host__ __device__ A identity() {
    return {T(-0.0f), 0, 0};
  }
  template <typename A, typename T = decltype(A::magnitudes)> static __host__ __device__ A of_nothing() {
    return {0, 0, 0};
  }

  /// Two numbers have one error, which is exact; so only the errors of more are added, and need magnitudes.
  template <typename A, typename Value, unsigned count, typename T = decltype(A::magnitudes),
            typename = std::enable_if_t<traits::is_exact_as<Value, T>>>
  static __host__ __device__ A neighbours(const Value (&values)[count], std::size_t) {
    static_assert(count > 1 && (count & (count - 1)) == 0);
    T sums[count];
    T errors[count - 1];
    for (unsigned k = 0; k < count; ++k)
      sums[k] = traits::converted<T>(values[k]);
    for (unsigned pairs = count / 2; pairs > 0; pairs /= 2) {
      for (unsigned k = 0; k < pairs; ++k)
        sums[k] = traits::two_sum(sums[k], sums[k + pairs], errors[count - 2 * pairs + k]);
    }
    A result(sums[0], errors[0], 0);
    for (unsigned k = 1; k < count - 1; ++k) {
      result.error = traits::rounded_sum(result.error, errors[k]);
      const T magnitude = traits::magnitude(result.error);
      result.magnitudes = k == 1 ? magnitude : traits::rounded_sum(result.magnitudes, magnitude);
    }
    return result;
  }
};

template <typename T> __host__ __device__ Compensated<T>::operator Bounded<T>() const {
  using Limits = traits::Limits<T>;
  constexpr T largest = (Limits::max)();
  constexpr T unit = Limits::epsilon() / 2;
  // The additions to `magnitudes` have rounded it down by at most a factor of (1 - u)^d, where d is their largest number
  // on the way of an element to the result: two for each vector of its thread, and some for the tree. A thread has at
  // most sixteen vectors, or in the order of SameBits every 2^22nd: no memory holds 2^19 for each. Of a column it has at most
  // 2^20 elements, with one addition each. d = 2^20 of float gives 1 - 1/16.
  constexpr T slack = T(1.125);
  T rest;
  T value = traits::two_sum(sum, error, rest);
  if (traits::is_zero(error)) value = sum;  // -0 + 0 would be 0
  // A denormal product is rounded to a multiple of the smallest denormal number, and not below what it bounds, since that
  // is such a multiple, too.
  const T of_error = traits::rounded_product(unit * slack, magnitudes);
  // The last factor is more than the roundings of the sum and of the product itself.
  const T bound = traits::rounded_product(traits::rounded_sum(traits::magnitude(rest), of_error),
                                          1 + 16 * Limits::epsilon());
  const bool is_known = traits::magnitude(value) <= largest && bound <= largest;
  if (is_known) return {value, bound};
  return {sum, Limits::infinity()};
}

}  // namespace v0_5

}  // namespace reduction
