#pragma once
#include "device/emulated/word.hpp"

namespace reduction::emulated {

/// A complex number that is loaded and stored as one word, as cuda::std::complex is on the device.
template <typename Real> class alignas(2 * sizeof(Real)) Complex {
 public:
  using value_type = Real;

  Complex() = default;
  REDUCTION_INLINE Complex(Real real, Real imaginary = 0) : real_{real}, imaginary_{imaginary} {}
  REDUCTION_INLINE Complex(const Complex& other) { copy_word(this, &other); }
  REDUCTION_INLINE Complex& operator=(const Complex& other) {
    copy_word(this, &other);
    return *this;
  }
  ~Complex() = default;

  REDUCTION_INLINE Real real() const { return real_; }
  REDUCTION_INLINE Real imag() const { return imaginary_; }

  /// Loads each operand once, then stores the sum.
  REDUCTION_INLINE Complex& operator+=(const Complex& other) {
    const Complex mine{*this};
    const Complex summand{other};
    return *this = Complex{mine.real_ + summand.real_, mine.imaginary_ + summand.imaginary_};
  }

  REDUCTION_INLINE friend Complex operator+(Complex a, const Complex& b) { return a += b; }
  REDUCTION_INLINE friend bool operator==(const Complex& a, const Complex& b) {
    const Complex left{a};
    const Complex right{b};
    return left.real_ == right.real_ && left.imaginary_ == right.imaginary_;
  }

 private:
  Real real_, imaginary_;
};

}  // namespace reduction::emulated
