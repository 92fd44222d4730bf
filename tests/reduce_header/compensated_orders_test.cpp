/// \file
/// CompensatedSum of beyond/12_any_operation on the host: drawn inputs in orders that no kernel has, compared with their exact
/// sums.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <reduction/compensated_sum.cuh>
#include <string>
#include <type_traits>
#include <vector>

#include "reduce_header/compensated_cases.hpp"

namespace reduction {
namespace {

template <typename T> bool same(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

template <typename A> A combined(const A& a, const A& b) { return CompensatedSum{}(a, b); }

/// One element after the other.
template <typename T, typename Number> Compensated<T> running_sum(const std::vector<Number>& values) {
  Compensated<T> result = CompensatedSum::identity<Compensated<T>>();
  for (const Number value : values)
    result = combined(result, Compensated<T>(value));
  return result;
}

/// Any two that are left, until one is left.
template <typename T, typename Number>
Compensated<T> sum_in_any_order(const std::vector<Number>& values, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Compensated<T>> left(values.begin(), values.end());
  if (left.empty()) return CompensatedSum::identity<Compensated<T>>();
  while (left.size() > 1) {
    std::swap(left[random() % left.size()], left.back());
    const Compensated<T> one = left.back();
    left.pop_back();
    Compensated<T>& other = left[random() % left.size()];
    other = combined(one, other);
  }
  return left[0];
}

template <typename T, typename Number>
void expect_bounded_in_all_orders(const Drawn<Number>& drawn, std::uint64_t seed) {
  const std::vector<Number>& values = drawn.values;
  const std::string what =
      std::to_string(values.size()) + " numbers, " + drawn.kind + ", case " + std::to_string(seed);
  const Bounded<T> running = running_sum<T>(values);
  expect_bounded(running, values, false, what + ", one after the other");
  if (values.size() <= 2000)
    expect_bounded(Bounded<T>(sum_in_any_order<T>(values, seed)), values, false, what + ", in any order");
}

template <typename T> class CompensatedSums : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(CompensatedSums, Floats);

TYPED_TEST(CompensatedSums, OfTenThousandDrawnInputsAreBounded) {
  CompensatedCases<TypeParam> cases(18);
  for (std::uint64_t i = 0; i < 10000 && !this->HasFailure(); ++i) {
    const int kind = static_cast<int>(i % CompensatedCases<TypeParam>::kinds);
    expect_bounded_in_all_orders<TypeParam>(cases.draw(kind, cases.size()), i);
  }
}

TYPED_TEST(CompensatedSums, OfAMillionNumbersAreBounded) {
  CompensatedCases<TypeParam> cases(19);
  for (int kind = 0; kind < CompensatedCases<TypeParam>::kinds && !this->HasFailure(); ++kind)
    expect_bounded_in_all_orders<TypeParam>(cases.draw(kind, 1000003), static_cast<std::uint64_t>(kind));
}

TEST(CompensatedSum, OfFloatsInDoubleIsBounded) {
  CompensatedCases<float> cases(20);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const int kind = static_cast<int>(i % CompensatedCases<float>::kinds);
    expect_bounded_in_all_orders<double>(cases.draw(kind, cases.size()), i);
  }
}

/// Two sums whose errors are large enough for their additions to cancel, round and be lost.
TYPED_TEST(CompensatedSums, OfTwoSumsWithErrorsAreBounded) {
  using T = TypeParam;
  std::mt19937_64 random(22);
  const auto drawn = [&](int exponent) {
    const auto bits = static_cast<std::int64_t>(random()) >> (64 - std::numeric_limits<T>::digits - 1);
    return std::ldexp(static_cast<T>(bits), exponent - std::numeric_limits<T>::digits);
  };
  for (int i = 0; i < 300000 && !this->HasFailure(); ++i) {
    const int exponent = i % 2 == 0 ? 0 : std::numeric_limits<T>::min_exponent + i % 60;
    const int lower = exponent - std::numeric_limits<T>::digits - static_cast<int>(random() % 4);
    const std::vector<T> parts{drawn(exponent), drawn(lower),
                               drawn(exponent - static_cast<int>(random() % 3)), drawn(lower)};
    const Bounded<T> sum =
        combined(Compensated<T>(parts[0], parts[1], 0), Compensated<T>(parts[2], parts[3], 0));
    expect_bounded(sum, parts, false, "case " + std::to_string(i));
  }
}

/// Else threads without an element would change the bound.
TYPED_TEST(CompensatedSums, AreNotChangedByTheIdentity) {
  using A = Compensated<TypeParam>;
  const A identity = CompensatedSum::identity<A>();
  CompensatedCases<TypeParam> cases(21);
  for (int i = 0; i < 1000; ++i) {
    const auto drawn = cases.draw(i % CompensatedCases<TypeParam>::kinds, cases.size());
    const A sum = running_sum<TypeParam>(drawn.values);
    if (!std::isfinite(sum.sum)) continue;
    EXPECT_TRUE(same(combined(identity, sum), sum)) << drawn.values.size() << " numbers, " << drawn.kind;
    EXPECT_TRUE(same(combined(sum, identity), sum)) << drawn.values.size() << " numbers, " << drawn.kind;
  }
  EXPECT_TRUE(same(combined(identity, identity), identity));
}

TYPED_TEST(CompensatedSums, KeepWhatASumLoses) {
  using T = TypeParam;
  const T large = 4 / std::numeric_limits<T>::epsilon();
  const Bounded<T> sum = running_sum<T>(std::vector<T>{large, 1, -large, 1, large, -large});
  EXPECT_EQ(sum.value, 2);
  EXPECT_LE(sum.error_bound, std::numeric_limits<T>::epsilon() * 16);
}

TYPED_TEST(CompensatedSums, PromiseNothingWhereOneOverflows) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity();
  const T largest = std::numeric_limits<T>::max();
  const Bounded<T> too_large = running_sum<T>(std::vector<T>{largest, largest});
  EXPECT_EQ(too_large.value, infinity);
  EXPECT_EQ(too_large.error_bound, infinity);
  // A sum that is the largest number, and an error for which two_sum overflows.
  const T last_place =
      std::ldexp(T(1), std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::digits);
  const Bounded<T> unknown = Compensated<T>(largest, -3 * last_place / 2, 0);
  EXPECT_EQ(unknown.value, largest);
  EXPECT_EQ(unknown.error_bound, infinity);
  const Bounded<T> no_number = running_sum<T>(std::vector<T>{infinity, -infinity, 1});
  EXPECT_TRUE(std::isnan(no_number.value));
  EXPECT_EQ(no_number.error_bound, infinity);
}

/// What it takes as an element or an init is what its type has exactly.
template <typename T, typename From> constexpr bool takes = std::is_convertible_v<From, Compensated<T>>;
static_assert(takes<float, float> && takes<float, std::int16_t> && takes<double, float> &&
              takes<double, std::int32_t> && takes<double, std::uint32_t> && takes<double, double>);
static_assert(!takes<float, double> && !takes<float, std::int32_t> && !takes<double, std::int64_t>);

}  // namespace
}  // namespace reduction
