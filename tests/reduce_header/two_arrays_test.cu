/// \file
/// 12's header with two arrays: elements of one size and of two, wherever each array begins.

#include <functional>
#include <numeric>

#include "reduce_header/suite.cuh"
#include "same_bits/order.hpp"

namespace reduction {
namespace {

struct Times {
  template <typename T, typename U>
  __device__ auto operator()(const T& a, const U& b) const -> decltype(a * b) {
    return a * b;
  }
};
struct Difference {
  template <typename T> __device__ T operator()(const T& a, const T& b) const {
    return a < b ? b - a : a - b;
  }
};

/// What transform_reduce() makes of the first n elements.
template <typename Out, typename T, typename U, typename Operation, typename Transform>
Out both(const DeviceArray<T>& a, const DeviceArray<U>& b, std::size_t n, Operation operation,
         Transform transform) {
  return result_of<Out>([&](Out* out, auto&&... storage) {
    return reduction::transform_reduce(storage..., a.get(), b.get(), out, n, operation, transform);
  });
}

/// The dot product of arrays that begin anywhere, in the usual order and in that of SameBits.
template <typename Out, typename T, typename U> void expect_dot_products() {
  for (const std::size_t n : sizes<T>()) {
    std::vector<T> values(n);
    std::vector<U> others(n);
    Out expected = 0;
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = small_number<T>(i);
      others[i] = small_number<U>(i + 17);
      expected = static_cast<Out>(expected + static_cast<Out>(values[i]) * static_cast<Out>(others[i]));
    }
    for (const std::size_t past : {0, 1, 3}) {
      for (const std::size_t other_past : {0, 3}) {
        const DeviceArray<T> a(values.data(), n, past * sizeof(T));
        const DeviceArray<U> b(others.data(), n, other_past * sizeof(U));
        ASSERT_EQ((both<Out>(a, b, n, Sum{}, Times{})), expected) << n << ", " << past << ", " << other_past;
        const auto same = both<Out>(a, b, n, SameBits{WithIdentity{Sum{}, Out{0}}}, Times{});
        ASSERT_EQ(same, expected) << n << ", " << past << ", " << other_past;
      }
    }
  }
}

TEST_F(Reduce, DotProducts) {
  expect_dot_products<int, int, int>();
  expect_dot_products<double, float, float>();
  expect_dot_products<double, double, float>();
  expect_dot_products<int, std::int8_t, short>();
  expect_dot_products<double, std::int8_t, double>();
}

TEST_F(Reduce, WhereTwoArraysDifferMost) {
  constexpr std::size_t n = 70001;
  const DeviceArray<float> a(std::vector<float>(n, 3));
  const DeviceArray<float> b(std::vector<float>(n, 1));
  for (const std::size_t place : {n - 1, n / 2, std::size_t{0}}) {
    b.set(place, -5);
    EXPECT_TRUE(agree(both<Indexed<float>>(a, b, n, ArgMax{}, Difference{}),
                      Indexed<float>{8, static_cast<long long>(place)}));
  }
}

/// The bits do not depend on where the arrays begin: a thread has two vectors of each array under way.
TEST_F(Reduce, SameBitsOfADotProduct) {
  constexpr std::size_t n = 100003;
  std::vector<float> values(n);
  std::vector<float> others(n);
  for (std::size_t i = 0; i < n; ++i) {  // their exact dot product is 0: what is left is rounding alone
    values[i] = static_cast<float>(scattered(i % (n / 2)));
    others[i] = i < n / 2 ? 0.7f : -0.7f;
  }
  const auto sum = [&](std::size_t past, std::size_t other_past) {
    const DeviceArray<float> a(values.data(), n, past * sizeof(float));
    const DeviceArray<float> b(others.data(), n, other_past * sizeof(float));
    return both<float>(a, b, n, SameBits{Sum{}}, Times{});
  };
  std::vector<float> products(n);
  for (std::size_t i = 0; i < n; ++i)
    products[i] = values[i] * others[i];
  const auto of_vector = [](const float* first, std::size_t count) {
    return std::accumulate(first + 1, first + count, *first);
  };
  EXPECT_EQ(sum(0, 0), same_bits::in_order<float>(products.data(), n, 4, 2, -0.0f, std::plus<>{}, of_vector));
  EXPECT_EQ(sum(0, 0), sum(1, 1));
  EXPECT_EQ(sum(0, 0), sum(1, 2));
}

TEST_F(Reduce, TwoArraysAreAligned) {
  const DeviceArray<float> a(std::vector<float>(100, 1));
  const DeviceArray<float> out(std::vector<float>{17});
  const auto* const past = reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(a.get()) + 1);
  const auto* const in = static_cast<const float*>(a.get());
  EXPECT_EQ(reduction::transform_reduce(past, in, out.get(), 10, Sum{}, Times{}), cudaErrorInvalidValue);
  EXPECT_EQ(reduction::transform_reduce(in, past, out.get(), 10, Sum{}, Times{}), cudaErrorInvalidValue);
  EXPECT_EQ(out.at(0), 17) << "something was launched";
}

}  // namespace
}  // namespace reduction
