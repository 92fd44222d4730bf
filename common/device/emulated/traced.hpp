#pragma once
#include <complex>
#include <concepts>
#include <type_traits>

#include "device/emulated/access.hpp"

namespace reduction::emulated {

template <typename T> inline constexpr bool is_complex = false;
template <typename T> inline constexpr bool is_complex<std::complex<T>> = true;

/// A value of type T that reports each read and write of itself to the emulated device. It has T's size, so
/// an array of Traced<T> lies in memory as an array of T does. Operators are inlined into the kernel at any
/// optimisation level and take their operands by value: a copy is a read, and there is one for each operand.
template <typename T> class Traced {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "memory is followed in words of 4 bytes");

 public:
  Traced() = default;
  REDUCTION_INLINE Traced(T value) : value_{value} {}
  REDUCTION_INLINE Traced(const Traced& other) : value_{other.read()} {}
  REDUCTION_INLINE Traced& operator=(Traced other) {
    write(other.value_);
    return *this;
  }
  ~Traced() = default;

  REDUCTION_INLINE explicit operator T() const { return read(); }

  REDUCTION_INLINE Traced& operator+=(Traced other) { return update(read() + other.value_); }
  REDUCTION_INLINE Traced& operator-=(Traced other) { return update(read() - other.value_); }
  REDUCTION_INLINE Traced& operator*=(Traced other) { return update(read() * other.value_); }

  REDUCTION_INLINE friend Traced operator+(Traced a, Traced b) { return T(a.value_ + b.value_); }
  REDUCTION_INLINE friend Traced operator-(Traced a, Traced b) { return T(a.value_ - b.value_); }
  REDUCTION_INLINE friend Traced operator*(Traced a, Traced b) { return T(a.value_ * b.value_); }

  REDUCTION_INLINE friend bool operator==(Traced a, Traced b) { return a.value_ == b.value_; }
  REDUCTION_INLINE friend auto operator<=>(Traced a, Traced b) requires(!is_complex<T>) {
    return a.value_ <=> b.value_;
  }

 private:
  REDUCTION_INLINE T read() const {
    record_load(this, sizeof(T));
    return value_;
  }
  REDUCTION_INLINE void write(T value) {
    record_store(this, sizeof(T));
    value_ = value;
  }
  REDUCTION_INLINE Traced& update(T value) {
    write(value);
    return *this;
  }

  T value_;
};

/// The type in which a kernel's Traced<T>, or plain T, keeps its value.
template <typename T> struct UntracedType { using type = T; };
template <typename T> struct UntracedType<Traced<T>> { using type = T; };
template <typename T> using Untraced = typename UntracedType<T>::type;

}  // namespace reduction::emulated
