#include "harness/input.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

namespace reduction {
namespace {

TEST(RandomBits, IsSplitMix64) {
  // With seed 0 the state is the counter's multiple of the golden ratio: the published generator's first outputs.
  EXPECT_EQ(random_bits(0, 0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random_bits(0, 1), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random_bits(0, 2), 0x06c45d188009454fu);
}

TEST(RandomReal, IsUniformInMinusOneToOne) {
  double sum = 0;
  double squares = 0;
  constexpr int count = 100'000;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(random_real<float>(1, i));
    ASSERT_GE(x, -1.0);
    ASSERT_LT(x, 1.0);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / count, 0.0, 0.01);
  EXPECT_NEAR(squares / count, 1.0 / 3, 0.01);
}

TEST(RealAt, GivesTheFirstElementsThatThePageNames) {
  // The table of common/README.md, as stored: unsigned.
  for (const auto& [seed, bits, real, imaginary] :
       {std::tuple(std::uint64_t{1}, 0xf4a90164c4749e1au, 0.9114076368358937, 0.49736577890272105),
        std::tuple(~std::uint64_t{0}, 0x242e6594739d57dau, -0.7173340821398333, 0.6522341811733847)}) {
    const Input input{Data::random, seed, 1};
    EXPECT_EQ(real_at<std::uint64_t>(input, 0, 0, 1), bits);
    EXPECT_EQ(real_at<std::uint32_t>(input, 0, 0, 1), bits >> 32);
    EXPECT_EQ(real_at<double>(input, 0, 0, 2), real);
    EXPECT_EQ(real_at<double>(input, 0, 1, 2), imaginary);
    // The same bits, but cut off.
    EXPECT_EQ(real_at<float>(input, 0, 0, 2), std::floor(real * 0x1p23) * 0x1p-23);
    EXPECT_EQ(real_at<float>(input, 0, 1, 2), std::floor(imaginary * 0x1p23) * 0x1p-23);
  }
}

TEST(RealAt, OnesAreOneWithNoImaginaryPart) {
  const Input input{Data::ones, 3, 10};
  EXPECT_EQ(real_at<float>(input, 4, 0, 2), 1.0f);
  EXPECT_EQ(real_at<float>(input, 4, 1, 2), 0.0f);
  EXPECT_EQ(real_at<std::uint32_t>(input, 9, 0, 1), 1u);
}

TEST(RealAt, CancellingPairsCancelAndSpanManyMagnitudes) {
  for (const std::uint64_t n : {1u, 2u, 7u, 100u, 1001u}) {
    const Input input{Data::cancelling, 5, n};
    double largest = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      if (2 * i + 1 == n) continue;  // the middle has no partner
      EXPECT_EQ(real_at<double>(input, i, 0, 1), -real_at<double>(input, n - 1 - i, 0, 1));
      const std::uint32_t pair_sum =
          real_at<std::uint32_t>(input, i, 0, 1) + real_at<std::uint32_t>(input, n - 1 - i, 0, 1);
      EXPECT_EQ(pair_sum, 0u);
      largest = std::max(largest, std::abs(real_at<double>(input, i, 0, 1)));
    }
    if (n > 1000) {
      EXPECT_GT(largest, 1000.0);
    }
  }
}

TEST(FillHost, WritesTheInputFromAnyFirstElement) {
  const Input input{Data::random, 11, 1'000'000};
  std::vector<float> complex_numbers(2 * 300'000);
  fill_host(complex_numbers.data(), input, ElementType::complex64, 700'000, 300'000);
  for (const std::uint64_t i :
       {std::uint64_t{0}, std::uint64_t{262'143}, std::uint64_t{262'144}, std::uint64_t{299'999}}) {
    EXPECT_EQ(complex_numbers[2 * i], (real_at<float>(input, 700'000 + i, 0, 2)));
    EXPECT_EQ(complex_numbers[2 * i + 1], (real_at<float>(input, 700'000 + i, 1, 2)));
  }
}

}  // namespace
}  // namespace reduction
