#pragma once
/// \file
/// What compensated_test.cu holds CompensatedSum against: drawn inputs, their exact sums, and the two inequalities that a
/// result has to fulfil.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace reduction {
namespace {

/// A sum of doubles without rounding: an integer of 2304 bits that counts multiples of 2^-1152.
class ExactSum {
 public:
  void add(double x) { add(x, 1); }
  void subtract(double x) { add(x, -1); }

  /// -1, 0 or 1.
  int sign() const {
    const auto digits = normalized();
    if (digits.back() < 0) return -1;
    for (const std::int64_t digit : digits)
      if (digit != 0) return 1;
    return 0;
  }

  /// The sum's magnitude with an error of a few units in the last place of a long double.
  long double magnitude() const {
    ExactSum positive = *this;
    if (sign() < 0) {
      for (std::int64_t& digit : positive.digits_)
        digit = -digit;
    }
    const auto digits = positive.normalized();
    long double sum = 0;
    for (std::size_t k = 0; k < digits.size(); ++k)
      sum += std::ldexp(static_cast<long double>(digits[k]), static_cast<int>(32 * k) - least_exponent);
    return sum;
  }

 private:
  static constexpr int least_exponent = 1152;
  using Digits = std::array<std::int64_t, 72>;  ///< of 32 bits, and what is to be carried
  Digits digits_{};

  void add(double x, std::int64_t sign) {
    if (x == 0) return;
    int exponent = 0;
    const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
    const auto magnitude = static_cast<std::uint64_t>(mantissa < 0 ? -mantissa : mantissa);
    const auto direction = mantissa < 0 ? -sign : sign;
    const int place = exponent - 53 + least_exponent;
    auto digit = digits_.begin() + place / 32;
    for (const std::uint64_t half : {magnitude & 0xffffffff, magnitude >> 32}) {
      const std::uint64_t shifted = half << (place % 32);
      *digit++ += direction * static_cast<std::int64_t>(shifted & 0xffffffff);
      *digit += direction * static_cast<std::int64_t>(shifted >> 32);
    }
  }

  /// All but the last are 0 to 2^32 - 1.
  Digits normalized() const {
    Digits digits = digits_;
    for (std::size_t k = 0; k + 1 < digits.size(); ++k) {
      const std::int64_t rest = digits[k] & 0xffffffff;
      digits[k + 1] += (digits[k] - rest) / (std::int64_t{1} << 32);
      digits[k] = rest;
    }
    return digits;
  }
};

template <typename Number> struct Drawn {
  std::string kind;
  std::vector<Number> values;
};

/// Draws inputs of every kind in turn.
template <typename Number> class CompensatedCases {
 public:
  static constexpr int kinds = 10;

  explicit CompensatedCases(std::uint64_t seed) : random_(seed) {}

  /// 0 to 20000, small ones as often as large ones.
  std::size_t size() {
    return static_cast<std::size_t>(
               std::exp(std::uniform_real_distribution<>(0, std::log(20001.0))(random_))) -
           1;
  }

  Drawn<Number> draw(int kind, std::size_t n) {
    using Limits = std::numeric_limits<Number>;
    const Number largest = Limits::max();
    switch (kind) {
      case 0: return fill("uniform", n, [&] { return signed_fraction(); });
      case 1: return fill("of one sign", n, [&] { return std::abs(signed_fraction()); });
      case 2:
        return fill("of all magnitudes", n,
                    [&] { return scaled(-Limits::max_exponent / 2, Limits::max_exponent / 2); });
      case 3: {
        const int orders = whole(16, 40);
        Number other = 0;
        auto drawn = fill("pairs that cancel", n, [&] {
          if (other == 0) return other = scaled(0, orders);
          const Number pair = -other;
          other = 0;
          return whole(0, 9) == 0 ? pair + scaled(-orders, 0) : pair;
        });
        std::shuffle(drawn.values.begin(), drawn.values.end(), random_);
        return drawn;
      }
      case 4:
        return fill("denormal", n, [&] {
          return static_cast<Number>(whole(-(1 << 30), 1 << 30) >> whole(0, 30)) * Limits::denorm_min();
        });
      case 5: {
        // Sums around where the bound itself is denormal.
        const int exponent = Limits::min_exponent + whole(0, 3 * Limits::digits);
        return fill("tiny", n, [&] { return std::ldexp(signed_fraction(), exponent); });
      }
      case 6: {
        const Number most = largest / static_cast<Number>(2 * n + 2);
        return fill("nearly too large", n, [&] { return signed_fraction() * most; });
      }
      case 7:
        return fill("too large", n, [&] {
          return whole(0, 1) == 0 ? signed_fraction() * largest : std::copysign(largest, signed_fraction());
        });
      case 8: {
        const Number value = scaled(-20, 20);
        return fill("constant", n, [&] { return value; });
      }
      default: return fill("-0", n, [] { return Number(-0.0); });
    }
  }

 private:
  std::mt19937_64 random_;

  template <typename Draw> Drawn<Number> fill(const char* kind, std::size_t n, Draw one) {
    std::vector<Number> values(n);
    for (Number& value : values)
      value = one();
    return {kind, std::move(values)};
  }
  int whole(int first, int last) { return std::uniform_int_distribution<>(first, last)(random_); }
  /// -1 to 1 in steps that the sum of two has to round.
  Number signed_fraction() {
    const auto bits = static_cast<std::int64_t>(random_()) >> (64 - std::numeric_limits<Number>::digits - 1);
    return std::ldexp(static_cast<Number>(bits | 1), -std::numeric_limits<Number>::digits);
  }
  Number scaled(int first, int last) { return std::ldexp(signed_fraction(), whole(first, last)); }
};

/// Expects that the bound holds; and where the order is a tree's, with few additions on the way of each element, that it is
/// at most 4 (u |s| + n u^2 sum of |x|).
template <typename Result, typename Number>
void expect_bounded(const Result& result, const std::vector<Number>& values, bool of_a_tree,
                    const std::string& what) {
  using T = decltype(result.value);
  using Limits = std::numeric_limits<T>;
  ExactSum exact;
  ExactSum magnitudes;
  for (const Number value : values) {
    exact.add(static_cast<double>(value));
    magnitudes.add(std::abs(static_cast<double>(value)));
  }
  const auto n = static_cast<long double>(values.size());
  if (std::isinf(result.error_bound)) {
    EXPECT_GE(magnitudes.magnitude(), static_cast<long double>(Limits::max())) << what;
    return;
  }
  ASSERT_TRUE(std::isfinite(result.value) && result.error_bound >= 0) << what;
  ExactSum above = exact;  // value - bound <= exact
  above.subtract(static_cast<double>(result.value));
  ExactSum below = above;
  above.add(static_cast<double>(result.error_bound));
  below.subtract(static_cast<double>(result.error_bound));
  EXPECT_TRUE(above.sign() >= 0 && below.sign() <= 0)
      << what << ": " << static_cast<double>(result.value) << " is no sum with an error of at most "
      << static_cast<double>(result.error_bound);
  if (!of_a_tree) return;
  const long double u = Limits::epsilon() / 2;
  const long double most = 4 * (u * exact.magnitude() + n * u * u * magnitudes.magnitude());
  EXPECT_LE(static_cast<long double>(result.error_bound), most) << what;
}

}  // namespace
}  // namespace reduction
