#pragma once
/// \file
/// CUDA's mathematical functions that `<cmath>` does not have, computed in long double and rounded. (CUDA Math API, "Single" and
/// "Double Precision Mathematical Functions".) Templates give way to functions of a program's own, as NVIDIA's helper_math.h
/// has some where another compiler than nvcc reads it, and to those of newer C libraries.

#include <cmath>
#include <concepts>
#include <limits>
#include <numbers>

namespace __emulated {

/// sin(pi * (value + quarters / 2)). Turns and their quarters are taken away exactly, so that there is little left to round.
template <std::floating_point Real> Real sine_of_half_turns(Real value, int quarters) {
  if (!std::isfinite(value)) return std::numeric_limits<Real>::quiet_NaN();
  const Real turn = std::remainder(value, Real{2});
  const Real quarter = std::nearbyint(2 * turn);
  const long double angle = std::numbers::pi_v<long double> * (turn - quarter / 2);
  const int which = (static_cast<int>(quarter) + quarters) & 3;
  const long double result = which % 2 == 0 ? std::sin(angle) : std::cos(angle);
  return static_cast<Real>(which < 2 ? result : -result);
}

/// The x with erf(x) = p and erfc(x) = q = 1 - p, neither of them negative, by Newton's method for the smaller one.
inline long double inverse_of_erf(long double p, long double q) {
  const long double half_root_of_pi = 1 / (2 * std::numbers::inv_sqrtpi_v<long double>);
  if (q == 0) return std::numeric_limits<long double>::infinity();
  if (p < q) {
    long double x = p * half_root_of_pi;
    for (int i = 0; i < 8; ++i)
      x -= (std::erf(x) - p) * half_root_of_pi * std::exp(x * x);
    return x;
  }
  // Of the logarithm, which is concave: from above, x never falls below the root.
  long double x = std::sqrt(-std::log(q));
  for (int i = 0; i < 12; ++i)
    x += std::log(std::erfc(x) / q) * std::erfc(x) * half_root_of_pi * std::exp(x * x);
  return x;
}

inline long double inverse_of_erfc(long double value) {
  if (!(value >= 0 && value <= 2)) return std::numeric_limits<long double>::quiet_NaN();
  return value <= 1 ? inverse_of_erf(1 - value, value) : -inverse_of_erf(value - 1, 2 - value);
}

}  // namespace __emulated

// ---- of float and of double ----

template <std::floating_point Real> Real rsqrt(Real value) {
  return static_cast<Real>(1 / std::sqrt(static_cast<long double>(value)));
}
template <std::floating_point Real> Real rcbrt(Real value) {
  return static_cast<Real>(1 / std::cbrt(static_cast<long double>(value)));
}

/// sin(pi * value). A zero has the sign of the value.
template <std::floating_point Real> Real sinpi(Real value) {
  const Real sine = __emulated::sine_of_half_turns(value, 0);
  return sine == 0 ? std::copysign(sine, value) : sine;
}
template <std::floating_point Real> Real cospi(Real value) {
  const Real cosine = __emulated::sine_of_half_turns(value, 1);
  return cosine == 0 ? 0 : cosine;
}
template <std::floating_point Real> void sincospi(Real value, Real* sine, Real* cosine) {
  *sine = sinpi(value);
  *cosine = cospi(value);
}

template <std::floating_point Real> Real erfinv(Real value) {
  const long double size = std::abs(static_cast<long double>(value));
  if (!(size <= 1)) return std::numeric_limits<Real>::quiet_NaN();
  return std::copysign(static_cast<Real>(__emulated::inverse_of_erf(size, 1 - size)), value);
}
template <std::floating_point Real> Real erfcinv(Real value) {
  return static_cast<Real>(__emulated::inverse_of_erfc(value));
}

/// The distribution function of the standard normal distribution, and its inverse.
template <std::floating_point Real> Real normcdf(Real value) {
  return static_cast<Real>(std::erfc(-value / std::numbers::sqrt2_v<long double>) / 2);
}
template <std::floating_point Real> Real normcdfinv(Real value) {
  return static_cast<Real>(-std::numbers::sqrt2_v<long double> *
                           __emulated::inverse_of_erfc(2 * static_cast<long double>(value)));
}

template <typename = void> float rsqrtf(float value) { return rsqrt(value); }
template <typename = void> float rcbrtf(float value) { return rcbrt(value); }
template <typename = void> float sinpif(float value) { return sinpi(value); }
template <typename = void> float cospif(float value) { return cospi(value); }
template <typename = void> void sincospif(float value, float* sine, float* cosine) {
  sincospi(value, sine, cosine);
}
template <typename = void> float erfinvf(float value) { return erfinv(value); }
template <typename = void> float erfcinvf(float value) { return erfcinv(value); }
template <typename = void> float normcdff(float value) { return normcdf(value); }
template <typename = void> float normcdfinvf(float value) { return normcdfinv(value); }
template <typename = void> float fdividef(float a, float b) { return a / b; }

// ---- lengths of vectors ----

namespace __emulated {

inline long double length(long double a, long double b, long double c = 0, long double d = 0) {
  return std::hypot(std::hypot(a, b), std::hypot(c, d));
}

}  // namespace __emulated

/// \cond
// Those of float have an f at the end of their names. (No function makes a name of a name.)
#define __EMULATED_LENGTHS(f, T)                                                                            \
  template <typename = void> T rhypot##f(T a, T b) { return static_cast<T>(1 / __emulated::length(a, b)); } \
  template <typename = void> T norm3d##f(T a, T b, T c) {                                                   \
    return static_cast<T>(__emulated::length(a, b, c));                                                     \
  }                                                                                                         \
  template <typename = void> T rnorm3d##f(T a, T b, T c) {                                                  \
    return static_cast<T>(1 / __emulated::length(a, b, c));                                                 \
  }                                                                                                         \
  template <typename = void> T norm4d##f(T a, T b, T c, T d) {                                              \
    return static_cast<T>(__emulated::length(a, b, c, d));                                                  \
  }                                                                                                         \
  template <typename = void> T rnorm4d##f(T a, T b, T c, T d) {                                             \
    return static_cast<T>(1 / __emulated::length(a, b, c, d));                                              \
  }
__EMULATED_LENGTHS(, double)
__EMULATED_LENGTHS(f, float)
#undef __EMULATED_LENGTHS
/// \endcond
