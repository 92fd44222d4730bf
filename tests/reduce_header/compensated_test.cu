/// \file
/// CompensatedSum of 12's header: drawn inputs, whose exact sums are within the bounds of the kernels' results, and those within
/// what the header says of them; and sums of the host in an order that no kernel has.

#include "reduce_header/compensated_cases.hpp"
#include "reduce_header/suite.cuh"

namespace reduction {
namespace {

template <typename T> class ReduceCompensated : public Reduce {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(ReduceCompensated, Floats);

/// What it takes as an element or an init is what its type has exactly.
template <typename T, typename From> constexpr bool takes = std::is_convertible_v<From, Compensated<T>>;
static_assert(takes<float, float> && takes<float, std::int16_t> && takes<double, float> &&
              takes<double, std::int32_t> && takes<double, std::uint32_t> && takes<double, double>);
static_assert(!takes<float, double> && !takes<float, std::int32_t> && !takes<double, std::int64_t>);

/// One element after the other, on the host.
template <typename T, typename Number> Compensated<T> running_sum(const std::vector<Number>& values) {
  Compensated<T> sum = CompensatedSum::identity<Compensated<T>>();
  for (const Number value : values)
    sum = CompensatedSum{}(sum, Compensated<T>(value));
  return sum;
}

/// Of every kind in turn up to 20000 numbers, from every start; and a million of each.
template <typename T, typename Number> void expect_drawn_to_be_bounded(std::uint64_t seed) {
  CompensatedCases<Number> cases(seed);
  constexpr int kinds = CompensatedCases<Number>::kinds;
  const int small = is_emulated ? 500 : 10000;
  for (int i = 0; i < small + (is_emulated ? 0 : kinds) && !testing::Test::HasFailure(); ++i) {
    const Drawn<Number> drawn = cases.draw(i % kinds, i < small ? cases.size() : 1000003);
    const std::size_t n = drawn.values.size();
    const DeviceArray<Number> in(drawn.values.data(), n,
                                 scattered(static_cast<std::size_t>(i)) % 4 * sizeof(Number));
    const std::string what = std::to_string(n) + " numbers, " + drawn.kind + ", case " + std::to_string(i);
    expect_bounded(result<Bounded<T>>(in, n, by(CompensatedSum{})), drawn.values, true, what);
    const Compensated<T> sum = running_sum<T>(drawn.values);
    expect_bounded(Bounded<T>(sum), drawn.values, false, what + ", one after the other");
    if (!std::isfinite(sum.sum)) continue;
    // Else threads without an element would change the bound.
    const auto identity = CompensatedSum::identity<Compensated<T>>();
    EXPECT_TRUE(agree(CompensatedSum{}(identity, sum), sum)) << what;
    EXPECT_TRUE(agree(CompensatedSum{}(sum, identity), sum)) << what;
  }
}

TYPED_TEST(ReduceCompensated, DrawnInputsAreBounded) { expect_drawn_to_be_bounded<TypeParam, TypeParam>(18); }

TEST_F(Reduce, CompensatedFloatsInDoubleAreBounded) { expect_drawn_to_be_bounded<double, float>(20); }

/// What a kernel computes is what the host computes from the same accumulators: a GPU rounds as a CPU does.
template <typename T>
__global__ void combine_each(const Compensated<T>* a, const Compensated<T>* b, Compensated<T>* sums,
                             Bounded<T>* bounds, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  sums[i] = CompensatedSum{}(a[i], b[i]);
  bounds[i] = sums[i];
}

/// Of errors that are large enough for their additions to cancel, round and be lost: exact where no magnitudes are given.
TYPED_TEST(ReduceCompensated, BitsAreTheHostsAndBounded) {
  using T = TypeParam;
  using A = Compensated<T>;
  constexpr int n = is_emulated ? 5000 : 100000;
  std::mt19937_64 random(23);
  const auto drawn = [&](int exponent) {
    const auto bits = static_cast<std::int64_t>(random()) >> (64 - std::numeric_limits<T>::digits - 1);
    return std::ldexp(static_cast<T>(bits), exponent - std::numeric_limits<T>::digits);
  };
  std::vector<A> a;
  std::vector<A> b;
  for (int i = 0; i < n; ++i) {
    // Every other one around the denormal numbers.
    const int exponent = i % 2 == 0 ? 0 : std::numeric_limits<T>::min_exponent + i % 60 - 5;
    const int lower = exponent - std::numeric_limits<T>::digits - static_cast<int>(random() % 4);
    for (std::vector<A>* side : {&a, &b})
      side->push_back(A(drawn(exponent - static_cast<int>(random() % 3)), i % 5 == 0 ? 0 : drawn(lower),
                        i % 3 == 0 ? std::abs(drawn(lower)) : 0));
  }
  const DeviceArray<A> first(a);
  const DeviceArray<A> second(b);
  const DeviceArray<A> sums(a.size());
  const DeviceArray<Bounded<T>> bounds(a.size());
  combine_each<<<(n + 255) / 256, 256>>>(first.get(), second.get(), sums.get(), bounds.get(), n);
  cuda_check(cudaGetLastError(), "launching combine_each");
  const auto downloaded = sums.download();
  const auto downloaded_bounds = bounds.download();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const A sum = CompensatedSum{}(a[i], b[i]);
    ASSERT_TRUE(agree(downloaded[i], sum)) << "case " << i;
    ASSERT_TRUE(agree(downloaded_bounds[i], Bounded<T>(sum))) << "case " << i;
    if (a[i].magnitudes + b[i].magnitudes > 0) continue;
    expect_bounded(Bounded<T>(sum), std::vector<T>{a[i].sum, a[i].error, b[i].sum, b[i].error}, false,
                   "case " + std::to_string(i));
  }
}

TYPED_TEST(ReduceCompensated, InitIsOneMoreElement) {
  using T = TypeParam;
  const T large = 4 / std::numeric_limits<T>::epsilon();
  const DeviceArray<T> in(std::vector<T>(1000, T(1)));
  for (const std::size_t n : {0, 1, 1000}) {
    std::vector<T> values(n, T(1));
    values.push_back(large);
    expect_bounded(result<Bounded<T>>(in, n, by(CompensatedSum{}, large)), values, true,
                   std::to_string(n) + " ones and an init");
  }
}

TYPED_TEST(ReduceCompensated, ZerosKeepTheirSign) {
  using T = TypeParam;
  expect<Bounded<T>, T>([](std::size_t) { return T(-0.0); },
                        [](auto* begin, auto* end) {
                          return Bounded<T>{begin == end ? T(0) : T(-0.0), 0};
                        },
                        by(CompensatedSum{}));
}

TYPED_TEST(ReduceCompensated, NothingIsPromisedWhereOneIsNotFinite) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity();
  for (const T one : {infinity, -infinity, std::numeric_limits<T>::quiet_NaN()}) {
    for (const std::size_t place : {0, 500, 39999}) {
      std::vector<T> values(40000, T(1));
      values[place] = one;
      const auto sum = result<Bounded<T>>(DeviceArray<T>(values), values.size(), by(CompensatedSum{}));
      EXPECT_TRUE(agree(sum.value, one)) << one << " at " << place;
      EXPECT_EQ(sum.error_bound, infinity) << one << " at " << place;
    }
  }
}

TYPED_TEST(ReduceCompensated, NothingIsPromisedWhereOneOverflows) {
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
}

/// Sums of float that are exact, so the bound is 0.
template <typename T> void expect_exact() {
  expect<Bounded<float>, T>(
      small_number<T>,
      [](auto* begin, auto* end) {
        return Bounded<float>{sum<float>()(begin, end), 0};
      },
      by(CompensatedSum{}));
}

TEST_F(Reduce, CompensatedSumTakesSmallTypes) {
  expect_exact<std::int16_t>();
  expect_exact<__half>();
}

struct Tenth {
  __host__ __device__ float operator()(float x) const { return x * 0.1f; }
};

TEST_F(Reduce, CompensatedSumTakesATransform) {
  std::vector<float> values(100003);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = any_number<float>(i);
  const DeviceArray<float> in(values);
  const auto sum = result<Bounded<float>>(in, values.size(), transformed_by(CompensatedSum{}, Tenth{}));
  for (float& value : values)
    value = Tenth{}(value);
  expect_bounded(sum, values, true, "tenths");
}

}  // namespace
}  // namespace reduction
