#pragma once
// Stands in for CUDA's header of this name on the emulated device.
#include <cmath>

#include "emulated/language/vectors.hpp"

namespace __emulated {

/// Scaled, so that no square overflows.
template <typename Complex> Complex quotient_of(Complex a, Complex b) {
  const auto scale = 1 / (std::abs(b.x) + std::abs(b.y));
  const Complex dividend{a.x * scale, a.y * scale};
  const Complex divisor{b.x * scale, b.y * scale};
  const auto factor = 1 / (divisor.x * divisor.x + divisor.y * divisor.y);
  return {(dividend.x * divisor.x + dividend.y * divisor.y) * factor,
          (dividend.y * divisor.x - dividend.x * divisor.y) * factor};
}

}  // namespace __emulated

using cuFloatComplex = float2;
using cuDoubleComplex = double2;
using cuComplex = cuFloatComplex;

inline cuComplex make_cuComplex(float real, float imaginary) { return {real, imaginary}; }
inline cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return {a.x, a.y}; }
inline cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
  return {static_cast<float>(a.x), static_cast<float>(a.y)};
}

// The functions of float have an f at the end of their names. (No function makes names of a name.)
#define __EMULATED_COMPLEX(Complex, Real, f)                                                                \
  inline Complex make_##Complex(Real real, Real imaginary) { return {real, imaginary}; }                    \
  inline Real cuCreal##f(Complex a) { return a.x; }                                                         \
  inline Real cuCimag##f(Complex a) { return a.y; }                                                         \
  inline Complex cuConj##f(Complex a) { return {a.x, -a.y}; }                                               \
  inline Complex cuCadd##f(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }                         \
  inline Complex cuCsub##f(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }                         \
  inline Complex cuCmul##f(Complex a, Complex b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  inline Complex cuCdiv##f(Complex a, Complex b) { return __emulated::quotient_of(a, b); }                  \
  inline Complex cuCfma##f(Complex a, Complex b, Complex c) {                                               \
    return {a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x};                                      \
  }                                                                                                         \
  inline Real cuCabs##f(Complex a) { return std::hypot(a.x, a.y); }
__EMULATED_COMPLEX(cuFloatComplex, float, f)
__EMULATED_COMPLEX(cuDoubleComplex, double, )
#undef __EMULATED_COMPLEX
