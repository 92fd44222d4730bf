#include "harness/reference.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace reduction {
namespace {

TEST(ReferenceSum, OfNothingIsTheIdentity) {
  for (const ElementType type : element_types) {
    const Reference reference = reference_sum({Data::random, 1, 0}, type);
    EXPECT_EQ(reference.integer, 0u);
    EXPECT_EQ(reference.parts[0].high, 0.0);
  }
}

TEST(ReferenceSum, CountsMoreOnesThanAFloatCan) {
  const Reference reference = reference_sum({Data::ones, 1, (1 << 25) + 1}, ElementType::float32);
  EXPECT_EQ(reference.parts[0].high, (1 << 25) + 1);
  EXPECT_EQ(reference.parts[0].magnitude, (1 << 25) + 1);
}

TEST(ReferenceSum, WrapsIntegersAround) {
  const Input input{Data::random, 9, 1'000'003};
  std::uint32_t wrapped = 0;
  for (std::uint64_t i = 0; i < input.n; ++i)
    wrapped += real_at<std::uint32_t>(input, i, 0, 1);
  const Reference reference = reference_sum(input, ElementType::int32);
  EXPECT_EQ(static_cast<std::uint32_t>(reference.integer), wrapped);
  EXPECT_EQ(to_string(to_value(reference)), std::to_string(static_cast<std::int32_t>(wrapped)));
}

TEST(ReferenceSum, OfCancellingInputIsExactlyTheMiddle) {
  for (const std::uint64_t n : {1'000'002u, 1'000'003u}) {
    const Input input{Data::cancelling, 4, n};
    const Reference reference = reference_sum(input, ElementType::complex128);
    for (const std::uint64_t part : {0u, 1u}) {
      const double middle = n % 2 == 1 ? real_at<double>(input, n / 2, part, 2) : 0.0;
      EXPECT_DOUBLE_EQ(reference.parts[part].high + reference.parts[part].low, middle);
      EXPECT_GT(reference.parts[part].magnitude, 1e8);
    }
  }
}

TEST(ReferenceSum, KeepsWhatADoubleLoses) {
  ReferenceSum sum;
  sum.add(1e20);
  sum.add(3.0);
  sum.add(-1e20);
  EXPECT_EQ(sum.high + sum.low, 3.0);
  EXPECT_EQ(sum.magnitude, 2e20 + 3.0);
}

}  // namespace
}  // namespace reduction
