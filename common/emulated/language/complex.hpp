#pragma once
#include <complex>

#include "emulated/memory/word.hpp"

namespace __emulated {

/// A complex number that is loaded and stored as one word, as cuda::std::complex is on the device.
template <typename Real> class alignas(2 * sizeof(Real)) Complex {
 public:
  using value_type = Real;

  Complex() = default;
  __EMULATED_INLINE Complex(Real real, Real imaginary = 0) : real_{real}, imaginary_{imaginary} {}
  __EMULATED_INLINE Complex(const Complex& other) { copy_word(this, &other); }
  __EMULATED_INLINE Complex& operator=(const Complex& other) {
    copy_word(this, &other);
    return *this;
  }
  ~Complex() = default;

  __EMULATED_INLINE Real real() const { return real_; }
  __EMULATED_INLINE Real imag() const { return imaginary_; }

  /// Loads each operand once, then stores the sum.
  __EMULATED_INLINE Complex& operator+=(const Complex& other) {
    const Complex mine{*this};
    const Complex summand{other};
    return *this = Complex{mine.real_ + summand.real_, mine.imaginary_ + summand.imaginary_};
  }

  __EMULATED_INLINE Complex& operator-=(const Complex& other) {
    const Complex mine{*this};
    const Complex subtrahend{other};
    return *this = Complex{mine.real_ - subtrahend.real_, mine.imaginary_ - subtrahend.imaginary_};
  }
  __EMULATED_INLINE Complex& operator*=(const Complex& other) {
    const Complex a{*this};
    const Complex b{other};
    return *this = Complex{a.real_ * b.real_ - a.imaginary_ * b.imaginary_,
                           a.real_ * b.imaginary_ + a.imaginary_ * b.real_};
  }
  __EMULATED_INLINE Complex& operator/=(const Complex& other) {
    const Complex divisor{other};
    const Complex product = *this * Complex{divisor.real_, -divisor.imaginary_};
    const Real norm = divisor.real_ * divisor.real_ + divisor.imaginary_ * divisor.imaginary_;
    return *this = Complex{product.real_ / norm, product.imaginary_ / norm};
  }

  __EMULATED_INLINE friend Complex operator+(Complex a, const Complex& b) { return a += b; }
  __EMULATED_INLINE friend Complex operator-(Complex a, const Complex& b) { return a -= b; }
  __EMULATED_INLINE friend Complex operator*(Complex a, const Complex& b) { return a *= b; }
  __EMULATED_INLINE friend Complex operator/(Complex a, const Complex& b) { return a /= b; }
  __EMULATED_INLINE friend Complex operator+(const Complex& a) { return a; }
  __EMULATED_INLINE friend Complex operator-(const Complex& a) {
    const Complex loaded{a};
    return Complex{-loaded.real_, -loaded.imaginary_};
  }
  __EMULATED_INLINE friend bool operator==(const Complex& a, const Complex& b) {
    const Complex left{a};
    const Complex right{b};
    return left.real_ == right.real_ && left.imaginary_ == right.imaginary_;
  }

  __EMULATED_INLINE explicit operator std::complex<Real>() const {
    const Complex loaded{*this};
    return {loaded.real_, loaded.imaginary_};
  }

 private:
  Real real_, imaginary_;
};

}  // namespace __emulated
