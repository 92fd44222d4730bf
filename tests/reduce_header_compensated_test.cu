/// \file
/// CompensatedSum of beyond/12_any_operation's header on a GPU, compared with exact sums. Skipped where there is no CUDA device;
/// compensated_sum_test.cpp draws more, on the host.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "compensated_cases.hpp"
#include "reduce_header.cuh"

namespace reduction {
namespace {

template <typename T> class ReduceCompensated : public Reduce {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(ReduceCompensated, Floats);

/// Sums the inputs, one behind the other in memory and so from every start, into Bounded<T>.
template <typename T, typename Number> void expect_all_bounded(const std::vector<Drawn<Number>>& inputs) {
  std::vector<Number> values;
  std::vector<std::size_t> first;
  for (const Drawn<Number>& drawn : inputs) {
    first.push_back(values.size());
    values.insert(values.end(), drawn.values.begin(), drawn.values.end());
  }
  const DeviceArray<Number> in(values);
  const auto results = results_of<Bounded<T>>(
      inputs.size(), [&](std::size_t i, void* storage, std::size_t& bytes, Bounded<T>* out) {
        const Number* const from = storage == nullptr ? nullptr : in.get() + first[i];
        return reduction::reduce(storage, bytes, from, out, inputs[i].values.size(), CompensatedSum{});
      });
  for (std::size_t i = 0; i < inputs.size(); ++i)
    expect_bounded(results[i], inputs[i].values, true,
                   std::to_string(inputs[i].values.size()) + " numbers, " + inputs[i].kind + ", case " +
                       std::to_string(i));
}

/// `small` inputs of up to 20000 numbers, and one of each kind of a million.
template <typename Number> std::vector<Drawn<Number>> drawn_inputs(std::uint64_t seed, int small) {
  CompensatedCases<Number> cases(seed);
  std::vector<Drawn<Number>> inputs;
  for (int i = 0; i < small; ++i)
    inputs.push_back(cases.draw(i % CompensatedCases<Number>::kinds, cases.size()));
  for (int kind = 0; kind < CompensatedCases<Number>::kinds; ++kind)
    inputs.push_back(cases.draw(kind, 1000003));
  return inputs;
}

TYPED_TEST(ReduceCompensated, DrawnInputsAreBounded) {
  expect_all_bounded<TypeParam>(drawn_inputs<TypeParam>(18, 10000));
}

TEST_F(Reduce, CompensatedFloatsInDoubleAreBounded) {
  expect_all_bounded<double>(drawn_inputs<float>(20, 2000));
}

/// What a kernel of one block computes is what the host computes from the same accumulators: a GPU rounds as a CPU does.
template <typename T>
__global__ void combine_each(const Compensated<T>* a, const Compensated<T>* b, Compensated<T>* sums,
                             Bounded<T>* bounds, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  sums[i] = CompensatedSum{}(a[i], b[i]);
  bounds[i] = sums[i];
}

TYPED_TEST(ReduceCompensated, BitsAreTheHosts) {
  using T = TypeParam;
  using A = Compensated<T>;
  constexpr int n = 100000;
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
    const int lower = exponent - std::numeric_limits<T>::digits;
    for (std::vector<A>* side : {&a, &b})
      side->push_back(A(drawn(exponent), i % 3 == 0 ? 0 : drawn(lower), std::abs(drawn(lower))));
  }
  const DeviceArray<A> first(a);
  const DeviceArray<A> second(b);
  const DeviceArray<A> sums(a.size());
  const DeviceArray<Bounded<T>> bounds(a.size());
  combine_each<<<(n + 255) / 256, 256>>>(first.get(), second.get(), sums.get(), bounds.get(), n);
  cuda_check(cudaGetLastError(), "launching combine_each");
  const auto downloaded = sums.download();
  const auto downloaded_bounds = bounds.download();
  for (int i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const A sum = CompensatedSum{}(a[k], b[k]);
    ASSERT_TRUE(same(downloaded[k], sum)) << "case " << i;
    ASSERT_TRUE(same(downloaded_bounds[k], Bounded<T>(sum))) << "case " << i;
  }
}

TYPED_TEST(ReduceCompensated, InitIsOneMoreElement) {
  using T = TypeParam;
  const T large = 4 / std::numeric_limits<T>::epsilon();
  const DeviceArray<T> in(std::vector<T>(1000, T(1)));
  for (const std::size_t n : {0, 1, 1000}) {
    const auto sum = result<Bounded<T>>(in.get(), n, by(CompensatedSum{}, large));
    std::vector<T> values(n, T(1));
    values.push_back(large);
    expect_bounded(sum, values, true, std::to_string(n) + " ones and an init");
  }
}

TYPED_TEST(ReduceCompensated, ZerosKeepTheirSign) {
  using T = TypeParam;
  const DeviceArray<T> in(std::vector<T>(100000, T(-0.0)));
  for (const std::size_t n : {1, 5, 1000, 100000}) {
    const auto sum = result<Bounded<T>>(in.get(), n, by(CompensatedSum{}));
    EXPECT_TRUE(same(sum, Bounded<T>{T(-0.0), 0})) << n;
  }
  EXPECT_TRUE(same(result<Bounded<T>>(in.get(), std::size_t{0}, by(CompensatedSum{})), Bounded<T>{0, 0}));
}

TYPED_TEST(ReduceCompensated, NothingIsPromisedWhereOneIsNotFinite) {
  using T = TypeParam;
  const T infinity = std::numeric_limits<T>::infinity();
  for (const T one : {infinity, -infinity, std::numeric_limits<T>::quiet_NaN()}) {
    for (const std::size_t place : {0, 500, 99999}) {
      std::vector<T> values(100000, T(1));
      values[place] = one;
      const DeviceArray<T> in(values);
      const auto sum = result<Bounded<T>>(in.get(), values.size(), by(CompensatedSum{}));
      EXPECT_TRUE(std::isnan(one) ? std::isnan(sum.value) : sum.value == one) << one << " at " << place;
      EXPECT_EQ(sum.error_bound, infinity) << one << " at " << place;
    }
  }
}

/// Its sums of float are exact as far as here, so the bound is 0.
TEST_F(Reduce, CompensatedSumTakesSmallTypes) {
  const std::size_t n = 20007;
  const auto small = small_numbers<std::int16_t>(n);
  const auto half = small_numbers<__half>(n);
  const float expected = sum_on_host<float>(small.data(), n);
  const DeviceArray<std::int16_t> small_in(small);
  const DeviceArray<__half> half_in(half);
  const Bounded<float> exact{expected, 0};
  EXPECT_TRUE(same(result<Bounded<float>>(small_in.get(), n, by(CompensatedSum{})), exact));
  EXPECT_TRUE(same(result<Bounded<float>>(half_in.get(), n, by(CompensatedSum{})), exact));
}

struct Tenth {
  __host__ __device__ float operator()(float x) const { return x * 0.1f; }
};

TEST_F(Reduce, CompensatedSumTakesATransform) {
  auto values = values_of<float>(100003, [](std::size_t i) { return static_cast<float>(any_number(i)); });
  const DeviceArray<float> in(values);
  const auto sum = result<Bounded<float>>(
      in.get(), values.size(), [](void* storage, std::size_t& bytes, auto* from, auto* out, auto n) {
        return reduction::transform_reduce(storage, bytes, from, out, n, CompensatedSum{}, Tenth{});
      });
  for (float& value : values)
    value = Tenth{}(value);
  expect_bounded(sum, values, true, "tenths");
}

// ---- beyond 1 GiB, where the header copies in bulk ----

class ReduceLargeCompensated : public Reduce {};

/// All numbers are a third: the exact sum is known.
TEST_F(ReduceLargeCompensated, SumIsBounded) {
  const std::size_t n = bulk_elements<float>;
  const std::string reason = too_large(n * sizeof(float));
  if (!reason.empty()) GTEST_SKIP() << reason;
  const float third = 1.0f / 3;
  const DeviceArray<float> in(n);
  set_all<<<1024, 256>>>(in.get(), n, third);
  const auto sum = result<Bounded<float>>(in.get(), n, by(CompensatedSum{}));
  const double exact = static_cast<double>(n) * static_cast<double>(third);  // 24 and 29 bits
  const double u = std::ldexp(1.0, -24);
  EXPECT_LE(std::abs(exact - static_cast<double>(sum.value)), static_cast<double>(sum.error_bound));
  EXPECT_LE(static_cast<double>(sum.error_bound), 4 * (u + static_cast<double>(n) * u * u) * exact);
}

}  // namespace
}  // namespace reduction
