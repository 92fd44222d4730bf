/// Arithmetic and conversions in a direction of rounding, as the host's optimiser compiles them, against whole numbers of 128
/// bits: the result is on the right side of the exact one, and the next number is not.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "emulated/language/rounding.hpp"

namespace {

__extension__ using Whole = __int128;

/// A finite number is digits * 2^exponent.
struct Parts {
  Whole digits;
  int exponent;
};
template <typename Real> Parts parts_of(Real number) {
  int exponent = 0;
  const Real fraction = std::frexp(number, &exponent);
  constexpr int digits = std::numeric_limits<Real>::digits;
  return {static_cast<Whole>(std::ldexp(fraction, digits)), exponent - digits};
}

int sign_of(Whole number) { return number < 0 ? -1 : number > 0 ? 1 : 0; }

/// Whether left - right * 2^exponent is positive, zero or negative, where the two are about as large.
int compare(Whole left, Whole right, int exponent) {
  return exponent < 0 ? sign_of((left << -exponent) - right) : sign_of(left - (right << exponent));
}

/// `off(number)` is the sign of the exact result less this number.
template <typename Real, typename Sign>
void expect_rounded(Real zero, Real down, Real up, Real nearest, const Sign& off, const std::string& what) {
  const Real infinity = std::numeric_limits<Real>::infinity();
  if (off(nearest) == 0) {
    ASSERT_EQ(down, nearest) << what;
    ASSERT_EQ(up, nearest) << what;
  } else {
    ASSERT_EQ(off(down), 1) << what;
    ASSERT_EQ(off(up), -1) << what;
    ASSERT_EQ(std::nextafter(down, infinity), up) << what;
    ASSERT_TRUE(nearest == down || nearest == up) << what;
  }
  ASSERT_EQ(zero, nearest < 0 ? up : down) << what;
}

#define EXPECT_ROUNDED(name, off, ...)                                                   \
  expect_rounded(name##_rz(__VA_ARGS__), name##_rd(__VA_ARGS__), name##_ru(__VA_ARGS__), \
                 name##_rn(__VA_ARGS__), off, #name)

/// Whole numbers of up to as many digits as the type has.
template <typename Real> class Drawn {
 public:
  Real number() {
    const auto digits = static_cast<std::int64_t>(random_() >> (64 - std::numeric_limits<Real>::digits));
    return static_cast<Real>(random_() % 2 == 0 ? digits : -digits) * static_cast<Real>(random_() % 8 != 0);
  }
  Real positive() { return std::abs(number()) + 1; }
  int exponent() { return static_cast<int>(random_() % 41); }
  std::uint64_t word() { return random_() >> random_() % 64; }

 private:
  std::mt19937_64 random_{1};
};

constexpr int draws = 100'000;

template <typename Real> auto off_sum(Real a, Real b, int exponent) {
  return [=](Real result) {
    const Parts parts = parts_of(std::ldexp(result, exponent));
    const Whole exact = (static_cast<Whole>(a) << exponent) + static_cast<Whole>(b);
    return compare(exact, parts.digits, parts.exponent);
  };
}
template <typename Real> auto off_product(Real a, Real b, Real c) {
  return [=](Real result) {
    const Parts parts = parts_of(result);
    return compare(static_cast<Whole>(a) * static_cast<Whole>(b) + static_cast<Whole>(c), parts.digits,
                   parts.exponent);
  };
}
template <typename Real> auto off_quotient(Real a, Real b) {
  return [=](Real result) {
    const Parts parts = parts_of(result);
    return compare(static_cast<Whole>(a), parts.digits * static_cast<Whole>(b), parts.exponent);
  };
}
template <typename Real> auto off_root(Real a) {
  return [=](Real result) {
    const Parts parts = parts_of(result);
    return compare(static_cast<Whole>(a), parts.digits * parts.digits, 2 * parts.exponent);
  };
}

TEST(Rounding, OfFloat) {
  Drawn<float> drawn;
  for (int i = 0; i < draws && !HasFatalFailure(); ++i) {
    const float a = drawn.number(), b = drawn.number(), c = drawn.number(), positive = drawn.positive();
    const int exponent = drawn.exponent();
    const float small = std::ldexp(b, -exponent);
    EXPECT_ROUNDED(__fadd, off_sum(a, b, exponent), a, small);
    EXPECT_ROUNDED(__fsub, off_sum(a, -b, exponent), a, small);
    EXPECT_ROUNDED(__fmul, off_product(a, b, 0.0F), a, b);
    EXPECT_ROUNDED(__fmaf, off_product(a, b, c), a, b, c);
    EXPECT_ROUNDED(__fdiv, off_quotient(a, positive), a, positive);
    EXPECT_ROUNDED(__frcp, off_quotient(1.0F, positive), positive);
    EXPECT_ROUNDED(__fsqrt, off_root(positive), positive);
  }
}

TEST(Rounding, OfDouble) {
  Drawn<double> drawn;
  for (int i = 0; i < draws && !HasFatalFailure(); ++i) {
    const double a = drawn.number(), b = drawn.number(), c = drawn.number(), positive = drawn.positive();
    const int exponent = drawn.exponent();
    const double small = std::ldexp(b, -exponent);
    EXPECT_ROUNDED(__dadd, off_sum(a, b, exponent), a, small);
    EXPECT_ROUNDED(__dsub, off_sum(a, -b, exponent), a, small);
    EXPECT_ROUNDED(__dmul, off_product(a, b, 0.0), a, b);
    EXPECT_ROUNDED(__fma, off_product(a, b, c), a, b, c);
    EXPECT_ROUNDED(__ddiv, off_quotient(a, positive), a, positive);
    EXPECT_ROUNDED(__drcp, off_quotient(1.0, positive), positive);
    EXPECT_ROUNDED(__dsqrt, off_root(positive), positive);
    EXPECT_ROUNDED(
        __double2float, [=](float result) { return (small > result) - (small < result); }, small);
  }
}

TEST(Rounding, OfIntegers) {
  Drawn<double> drawn;
  for (int i = 0; i < draws && !HasFatalFailure(); ++i) {
    const std::uint64_t word = drawn.word();
    const auto off = [](Whole exact) {
      return [=](auto result) { return sign_of(exact - static_cast<Whole>(result)); };
    };
    const auto integer = static_cast<int>(word);
    const auto natural = static_cast<unsigned>(word);
    const auto large = static_cast<long long>(word);
    EXPECT_ROUNDED(__int2float, off(integer), integer);
    EXPECT_ROUNDED(__uint2float, off(natural), natural);
    EXPECT_ROUNDED(__ll2float, off(large), large);
    EXPECT_ROUNDED(__ull2float, off(word), word);
    EXPECT_ROUNDED(__ll2double, off(large), large);
    EXPECT_ROUNDED(__ull2double, off(word), word);
  }
}

TEST(Rounding, EndsWhereTheNumbersDo) {
  constexpr float greatest = std::numeric_limits<float>::max();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(__fadd_rz(greatest, greatest), greatest);
  EXPECT_EQ(__fadd_rd(greatest, greatest), greatest);
  EXPECT_EQ(__fadd_ru(greatest, greatest), infinity);
  EXPECT_EQ(__fadd_ru(-greatest, -greatest), -greatest);
  EXPECT_EQ(__fadd_rd(infinity, 1), infinity);
  EXPECT_EQ(__fmul_ru(0x1p-100F, 0x1p-100F), 0x1p-149F);
  EXPECT_EQ(__fmul_rz(0x1p-100F, 0x1p-100F), 0);
  EXPECT_EQ(__frcp_rz(0), infinity);
  EXPECT_TRUE(std::signbit(__fadd_rd(1, -1))) << "of 1 - 1 downwards -0";
  EXPECT_FALSE(std::signbit(__fadd_rz(1, -1)));
  EXPECT_EQ(__double2float_rz(1e300), greatest);
  EXPECT_EQ(__double2float_ru(1e-300), 0x1p-149F);
  EXPECT_TRUE(std::isnan(__fsqrt_ru(-1)));
}

#define EXPECT_WHOLE(name, value, to_nearest, to_zero, down, up) \
  EXPECT_EQ(name##_rn(value), to_nearest);                       \
  EXPECT_EQ(name##_rz(value), to_zero);                          \
  EXPECT_EQ(name##_rd(value), down);                             \
  EXPECT_EQ(name##_ru(value), up)

TEST(Rounding, MakesIntegers) {
  EXPECT_WHOLE(__float2int, -2.5F, -2, -2, -3, -2);
  EXPECT_WHOLE(__double2int, -2.5, -2, -2, -3, -2);
  EXPECT_WHOLE(__float2ll, -3.5F, -4, -3, -4, -3);
  EXPECT_WHOLE(__double2ll, -3.5, -4, -3, -4, -3);
  EXPECT_WHOLE(__float2uint, 2.75F, 3U, 2U, 2U, 3U);
  EXPECT_WHOLE(__double2uint, 2.75, 3U, 2U, 2U, 3U);
  EXPECT_WHOLE(__float2ull, 0x1p40F, 1ULL << 40, 1ULL << 40, 1ULL << 40, 1ULL << 40);
  EXPECT_WHOLE(__double2ull, 0x1p52 + 0.0, 1ULL << 52, 1ULL << 52, 1ULL << 52, 1ULL << 52);
  EXPECT_WHOLE(__double2ull, 0x1p51 + 0.5, 1ULL << 51, 1ULL << 51, 1ULL << 51, (1ULL << 51) + 1);
}

TEST(Rounding, MakesTheNearestIntegerThatThereIs) {
  EXPECT_EQ(__float2int_rz(3e9F), std::numeric_limits<int>::max());
  EXPECT_EQ(__double2int_ru(-3e9), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2uint_rd(-0.5F), 0U);
  EXPECT_EQ(__double2uint_rn(5e9), ~0U);
  EXPECT_EQ(__float2ll_rn(1e19F), std::numeric_limits<long long>::max());
  EXPECT_EQ(__float2ull_ru(1e20F), ~0ULL);
  EXPECT_EQ(__double2ull_rd(-1.0), 0ULL);
}

/// PTX ISA, cvt: 0, but the upper half's first number where one of the types has 64 bits.
TEST(Rounding, MakesOfNaNWhatAGpuDoes) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(__float2int_rn(nan), 0);
  EXPECT_EQ(__float2uint_rn(nan), 0U);
  EXPECT_EQ(__float2ll_rn(nan), std::numeric_limits<long long>::min());
  EXPECT_EQ(__float2ull_rn(nan), 1ULL << 63);
  EXPECT_EQ(__double2int_rn(nan), std::numeric_limits<int>::min());
  EXPECT_EQ(__double2uint_rn(nan), 1U << 31);
  EXPECT_EQ(__double2ull_rn(nan), 1ULL << 63);
}

}  // namespace
