/// \file
/// CompensatedSum of beyond/12_any_operation on the host: drawn inputs, in the order of a kernel and in others, compared with
/// their exact sums.

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

#include "compensated_cases.hpp"

namespace reduction {
namespace {

template <typename T> bool same(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

template <typename A> A combined(const A& a, const A& b) { return CompensatedSum{}(a, b); }

/// Halves the accumulators until one is left, as shuffles do.
template <typename A> A tree(std::vector<A> all) {
  for (std::size_t stride = all.size() / 2; stride > 0; stride /= 2)
    for (std::size_t i = 0; i < stride; ++i)
      all[i] = combined(all[i], all[i + stride]);
  return all[0];
}

/// In the order of a grid: vectors of 16 bytes, `head` elements before them, each block's threads, then a block for the
/// partial results.
template <typename T, typename Number>
Compensated<T> sum_of_grid(const std::vector<Number>& values, std::size_t blocks, std::size_t threads,
                           std::size_t head) {
  using A = Compensated<T>;
  constexpr std::size_t width = 16 / sizeof(Number);
  const A nothing = CompensatedSum::identity<A>();
  head = std::min(head, values.size());
  const std::size_t vectors = (values.size() - head) / width;
  std::vector<std::vector<A>> results(blocks, std::vector<A>(threads, nothing));
  for (std::size_t i = 0; i < head; ++i)
    results[0][i] = A(values[i]);
  for (std::size_t i = head + vectors * width; i < values.size(); ++i)
    results[0][i - (head + vectors * width) + head] = A(values[i]);
  for (std::size_t v = 0; v < vectors; ++v) {
    Number loaded[width];
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(head + v * width), width, loaded);
    A& result = results[v / (4 * threads) % blocks][v % threads];
    result = combined(result, CompensatedSum::neighbours<A>(loaded, head + v * width));
  }
  std::vector<A> partial(256, nothing);
  for (std::size_t block = 0; block < blocks; ++block)
    partial[block % 256] = combined(partial[block % 256], tree(results[block]));
  return tree(partial);
}

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
  const std::size_t threads = std::size_t{32} << seed % 5;
  const std::size_t blocks = seed / 5 % 3 == 0 ? 1 : seed / 15 % 300 + 1;
  if (blocks * threads <= 1024 || values.size() > 1000) {
    const Bounded<T> of_grid = sum_of_grid<T>(values, blocks, threads, seed % 4);
    expect_bounded(of_grid, values, true, what + ", in a grid's order");
  }
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
    const A sum = sum_of_grid<TypeParam>(drawn.values, 1, 32, 0);
    if (!std::isfinite(sum.sum)) continue;
    EXPECT_TRUE(same(combined(identity, sum), sum)) << drawn.values.size() << " numbers, " << drawn.kind;
    EXPECT_TRUE(same(combined(sum, identity), sum)) << drawn.values.size() << " numbers, " << drawn.kind;
  }
  EXPECT_TRUE(same(combined(identity, identity), identity));
}

TYPED_TEST(CompensatedSums, HaveTheSignOfTheirZeros) {
  using T = TypeParam;
  const Bounded<T> negative = sum_of_grid<T>(std::vector<T>(1000, T(-0.0)), 2, 32, 1);
  EXPECT_TRUE(negative.value == 0 && std::signbit(negative.value) && negative.error_bound == 0);
  const Bounded<T> mixed = sum_of_grid<T>(std::vector<T>{T(-0.0), T(0), T(-0.0)}, 1, 32, 0);
  EXPECT_TRUE(mixed.value == 0 && !std::signbit(mixed.value) && mixed.error_bound == 0);
  const Bounded<T> nothing = CompensatedSum::of_nothing<Compensated<T>>();
  EXPECT_TRUE(nothing.value == 0 && !std::signbit(nothing.value) && nothing.error_bound == 0);
}

TYPED_TEST(CompensatedSums, AreExactWhereNothingIsRounded) {
  using T = TypeParam;
  std::vector<T> values;
  for (int i = 1; i <= 1000; ++i)
    values.push_back(static_cast<T>(i));
  const Bounded<T> sum = sum_of_grid<T>(values, 3, 64, 0);
  EXPECT_EQ(sum.value, 500500);
  EXPECT_EQ(sum.error_bound, 0);
}

TYPED_TEST(CompensatedSums, KeepWhatASumLoses) {
  using T = TypeParam;
  const T large = 4 / std::numeric_limits<T>::epsilon();
  const Bounded<T> sum = running_sum<T>(std::vector<T>{large, 1, -large, 1, large, -large});
  EXPECT_EQ(sum.value, 2);
  EXPECT_LE(sum.error_bound, std::numeric_limits<T>::epsilon() * 16);
}

TYPED_TEST(CompensatedSums, PromiseNothingWhereOneIsNotFinite) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity();
  const T largest = std::numeric_limits<T>::max();
  const Bounded<T> infinite = sum_of_grid<T>(std::vector<T>{1, -infinity, 2}, 1, 32, 0);
  EXPECT_EQ(infinite.value, -infinity);
  EXPECT_EQ(infinite.error_bound, infinity);
  const Bounded<T> too_large = sum_of_grid<T>(std::vector<T>{largest, largest}, 1, 32, 0);
  EXPECT_EQ(too_large.value, infinity);
  EXPECT_EQ(too_large.error_bound, infinity);
  // A sum that is the largest number, and an error for which two_sum overflows.
  const T last_place =
      std::ldexp(T(1), std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::digits);
  const Bounded<T> unknown = Compensated<T>(largest, -3 * last_place / 2, 0);
  EXPECT_EQ(unknown.value, largest);
  EXPECT_EQ(unknown.error_bound, infinity);
  for (const std::vector<T>& values :
       {std::vector<T>{infinity, -infinity, 1}, std::vector<T>{1, std::numeric_limits<T>::quiet_NaN()}}) {
    const Bounded<T> sum = sum_of_grid<T>(values, 1, 32, 0);
    EXPECT_TRUE(std::isnan(sum.value));
    EXPECT_EQ(sum.error_bound, infinity);
  }
}

/// What it takes as an element or an init is what its type has exactly.
template <typename T, typename From> constexpr bool takes = std::is_convertible_v<From, Compensated<T>>;
static_assert(takes<float, float> && takes<float, std::int16_t> && takes<double, float> &&
              takes<double, std::int32_t> && takes<double, std::uint32_t> && takes<double, double>);
static_assert(!takes<float, double> && !takes<float, std::int32_t> && !takes<double, std::int64_t>);

}  // namespace
}  // namespace reduction
