/// \file
/// 12's header with numbers of every size: sums, products, extremes and logical operations, into their own and into larger
/// types.

#include "reduce_header/suite.cuh"

namespace reduction {
namespace {

using std::int16_t, std::int32_t, std::int64_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint8_t;

/// Whatever the identity comes with, a sum of ones in __half would end at 2048.
template <typename Operation>
using AccumulatorOfHalf = detail::AccumulatorOf<detail::Default, WithIdentity<Operation, __half>, __half>;
static_assert(std::is_same_v<AccumulatorOfHalf<Sum>, float> &&
              std::is_same_v<AccumulatorOfHalf<Min>, __half>);

template <typename T> T one(std::size_t) { return number<T>(1); }

template <typename T> class ReduceNumbers : public Reduce {};
#ifdef __CUDACC__
using Numbers = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float, double, __half,
                               __nv_bfloat16>;
using Floats = testing::Types<float, double, __half, __nv_bfloat16>;
#else  // what takes other code
using Numbers = testing::Types<int8_t, uint8_t, int16_t, uint16_t, float, __half, __nv_bfloat16>;
using Floats = testing::Types<float, __half>;
#endif
TYPED_TEST_SUITE(ReduceNumbers, Numbers);

TYPED_TEST(ReduceNumbers, Sum) {
  using T = TypeParam;
  if constexpr (std::is_integral_v<T>)
    expect<T, T>(any_number<T>, sum<T>(), by(Sum{}));
  else
    expect<T, T>(small_number<T>, sum<T>(), by(Sum{}));
  if constexpr (is_small_float<T>) expect<T, T>(one<T>, sum<T>(), by(Sum{}));  // in float, rounded once
}

/// Of integers all digits, of others as many as are exact.
TYPED_TEST(ReduceNumbers, Product) {
  using T = TypeParam;
  const auto factor = [](std::size_t i) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(any_number<T>(i) | 1);
    if (i % 3000017 == 5) return number<T>(3);
    return number<T>(scattered(i) % 32 < 16 ? 1 : -1);
  };
  const auto times = [](T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else
      return number<T>(plain(a) * plain(b));
  };
  expect<T, T>(factor, folded(number<T>(1), times), by(Product{}));
}

TYPED_TEST(ReduceNumbers, Extremes) {
  using T = TypeParam;
  expect<T, T>(any_number<T>, least<T>(), by(Min{}));
  expect<T, T>(any_number<T>, largest<T>(), by(Max{}));
}

/// One element decides, wherever it is.
template <typename T> void expect_one_to_decide() {
  for (const std::ptrdiff_t place : {0, 40, 5000}) {
    const auto but_one = [=](T one, T others) {
      return [=](std::size_t i) { return i == static_cast<std::size_t>(place) ? one : others; };
    };
    const auto is_within = [=](auto* begin, auto* end) { return static_cast<T>(place < end - begin); };
    const auto is_beyond = [=](auto* begin, auto* end) { return static_cast<T>(place >= end - begin); };
    expect<T, T>(but_one(0, 5), is_beyond, by(LogicalAnd{}));
    expect<T, T>(but_one(5, 0), is_within, by(LogicalOr{}));
  }
}

TEST_F(Reduce, LogicalOperations) {
  expect_one_to_decide<int8_t>();
  expect_one_to_decide<int32_t>();
  expect_one_to_decide<double>();
}

/// A bool is no number of 8 bits, and what is true is not always 1.
TEST_F(Reduce, LogicalOperationsOfOtherTypes) {
  const auto flag = [](std::size_t i) { return i == 3; };
  const auto two = [](std::size_t) { return 2; };
  const auto has_flag = [](auto* begin, auto* end) { return end - begin > 3; };
  expect<bool, bool>(flag, has_flag, by(LogicalOr{}));
  expect<bool, bool>(flag, has_flag, by(Max{}));
  expect<bool, bool>(flag, has_flag, by(Sum{}));
  expect<int, bool>(flag, has_flag, by(Sum{}));
  expect<bool, bool>(
      flag, [](auto* begin, auto* end) { return begin == end; }, by(LogicalAnd{}));
  expect<bool, int>(
      two, [](auto*, auto*) { return true; }, by(LogicalAnd{}));
}

// ---- into larger types ----

template <typename T> class ReduceSmallNumbers : public Reduce {};
using SmallNumbers = testing::Types<int8_t, uint8_t, int16_t, uint16_t, __half, __nv_bfloat16>;
TYPED_TEST_SUITE(ReduceSmallNumbers, SmallNumbers);

TYPED_TEST(ReduceSmallNumbers, SumInWhatTheResultIs) {
  using T = TypeParam;
  if constexpr (std::is_integral_v<T>) {
    expect<int32_t, T>(any_number<T>, sum<int32_t>(), by(Sum{}));
    expect<int64_t, T>(any_number<T>, sum<int64_t>(), by(Sum{}));
  }
  if constexpr (!std::is_unsigned_v<T>) expect<float, T>(small_number<T>, sum<float>(), by(Sum{}));
  expect<double, T>(small_number<T>, sum<double>(), by(Sum{}));
}

struct Negate {
  template <typename T> __device__ T operator()(const T& value) const { return static_cast<T>(-value); }
};
struct Is {
  int wanted;
  template <typename T> __device__ int operator()(const T& value) const { return value == wanted ? 1 : 0; }
};

/// Where no instruction for several elements at once fits, of another accumulator or after a transform; and where one does.
template <typename T> void expect_each_element() {
  const auto minus = [](std::size_t i) { return static_cast<T>(-small_number<T>(i)); };
  expect<T, T>(minus, folded(highest<T>(), [](T a, T b) { return -b < a ? static_cast<T>(-b) : a; }),
               transformed_by(Min{}, Negate{}));
  expect<T, T>(minus, folded(T{0}, [](T a, T b) { return a - b; }), transformed_by(Sum{}, Negate{}));
  expect<int, T>(minus, folded(0, [](int a, T b) { return a + (b == 3); }), transformed_by(Sum{}, Is{3}));
  expect<int, T>(any_number<T>,
                 folded(std::numeric_limits<int>::max(), [](int a, T b) { return b < a ? b : a; }),
                 by(Min{}));
  expect<T, T>(any_number<T>, least<T>(), by(MinOrNaN{}));
  expect<T, T>(any_number<T>, largest<T>(), by(MaxOrNaN{}));
}

TEST_F(Reduce, SmallNumbersOneByOne) {
  expect_each_element<int8_t>();
  expect_each_element<int16_t>();
}

// ---- in what the call says ----

/// A float would lose the small part of each.
TEST_F(Reduce, AccumulatorOfACall) {
  const auto element = [](std::size_t i) { return i % 2 == 0 ? 1.0f : 1.0f / (1 << 30); };
  expect<double, float>(element, sum<double>(), by(Sum{}));
  expect<float, float>(element, sum<float>(), by<double>(Sum{}));
  const DeviceArray<float> in(std::vector<float>{1, element(1), 1, element(3)});
  EXPECT_EQ(result<float>(in, 4, by<double>(Sum{}, -2)), 2 * element(1)) << "the init is added before";
  EXPECT_EQ(result<float>(in, 4, transformed_by<double>(Sum{}, Negate{}, 2)), -2 * element(1));
  const DeviceArray<__half> half(std::vector<__half>(70000, one<__half>(0)));
  EXPECT_EQ(plain(result<__half>(half, 70000, by(Sum{}, -40000))), 30000)
      << "more than a __half holds, on the way";
  EXPECT_EQ(plain(result<__half>(half, 4096, by<__half>(Product{}))), 1);
}

// ---- NaN, and -0 ----

template <typename T> class ReduceFloats : public Reduce {};
TYPED_TEST_SUITE(ReduceFloats, Floats);

/// With the sign bit, and with digits of its own.
template <typename T> T nan_number(std::size_t i) {
  if constexpr (is_small_float<T>) {
    const std::uint16_t bits = std::uint16_t(i % 3 == 0 ? 0xFFFF : i % 3 == 1 ? 0x7FFF : 0xFF81);
    T nan;
    std::memcpy(static_cast<void*>(&nan), &bits, sizeof(nan));
    return nan;
  } else {
    return i % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : -std::numeric_limits<T>::quiet_NaN();
  }
}

TYPED_TEST(ReduceFloats, NaNIsPassedOver) {
  using T = TypeParam;
  const auto some = [](std::size_t i) { return i % 3 == 1 ? any_number<T>(i) : nan_number<T>(i); };
  const auto all_but_one = [](std::size_t i) { return i == 5 ? number<T>(-7) : nan_number<T>(i); };
  const auto both = [](auto* begin, auto* end) {
    return Extremes<T>{least<T>()(begin, end), largest<T>()(begin, end)};
  };
  expect<T, T>(some, least<T>(), by(Min{}));
  expect<T, T>(some, largest<T>(), by(Max{}));
  expect<T, T>(all_but_one, least<T>(), by(Min{}));
  expect<T, T>(all_but_one, largest<T>(), by(Max{}));
  expect<Extremes<T>, T>(all_but_one, both, by(MinMax{}));
  const DeviceArray<T> in(std::vector<T>{number<T>(3), number<T>(2)});
  EXPECT_EQ(plain(result<T>(in, 2, by(Min{}, nan_number<T>(0)))), 2) << "nor does one as init count";
}

TYPED_TEST(ReduceFloats, NaNDecidesWhereTheOperationSaysSo) {
  using T = TypeParam;
  for (const std::size_t place : {5, 1000}) {
    const auto with_one = [=](std::size_t i) { return i == place ? nan_number<T>(i) : any_number<T>(i); };
    const auto or_nan = [=](auto reference) {
      return [=](auto* begin, auto* end) {
        return end - begin > std::ptrdiff_t(place) ? nan_number<T>(0) : reference(begin, end);
      };
    };
    expect<T, T>(with_one, or_nan(least<T>()), by(MinOrNaN{}));
    expect<T, T>(with_one, or_nan(largest<T>()), by(MaxOrNaN{}));
  }
  const DeviceArray<T> in(std::vector<T>{number<T>(3), number<T>(2)});
  EXPECT_TRUE(agree(result<T>(in, 2, by(MinOrNaN{}, nan_number<T>(0))), nan_number<T>(0)))
      << "as an init, too";
}

/// A sum of zeros is -0 only if all are: not 0, with which an accumulator may begin.
TYPED_TEST(ReduceFloats, SumOfMinusZerosIsMinusZero) {
  using T = TypeParam;
  const auto minus_zero = [](std::size_t) { return number<T>(-0.0f); };
  const auto but_one = [](std::size_t i) { return number<T>(i == 40 ? 0.0f : -0.0f); };
  expect<T, T>(minus_zero, sum<T>(), by(Sum{}));
  expect<T, T>(minus_zero, sum<T>(), by<T>(Sum{}));
  expect<T, T>(but_one, sum<T>(), by(Sum{}));
  expect<T, T>(
      minus_zero, [](auto*, auto*) { return number<T>(-0.0f); }, by(Sum{}, number<T>(-0.0f)));
  expect<T, T>(
      minus_zero, [](auto*, auto*) { return number<T>(0.0f); }, by(Sum{}, number<T>(0.0f)));
}

}  // namespace
}  // namespace reduction
