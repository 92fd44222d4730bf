/// What the elements are is in input_test.py, beside the page that says so.
#include "harness/input.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace reduction {
namespace {

TEST(RandomBits, IsSplitMix64) {
  // With seed 0 the state is the counter's multiple of the golden ratio: the published generator's first outputs.
  EXPECT_EQ(random_bits(0, 0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random_bits(0, 1), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random_bits(0, 2), 0x06c45d188009454fu);
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
