/// What the sum of an input is, integers' too and that of nothing, is in input_test.py.
#include "harness/verification.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace reduction {
namespace {

template <typename Real> Value value_of(ElementType type, Real first, Real second = Real{}) {
  Value value{type};
  std::memcpy(value.bytes.data(), &first, sizeof(Real));
  if (is_complex(type)) std::memcpy(value.bytes.data() + sizeof(Real), &second, sizeof(Real));
  return value;
}

TEST(ReferenceSum, CountsMoreOnesThanAFloatCan) {
  const Reference reference = reference_sum({Data::ones, 1, (1 << 25) + 1}, ElementType::float32);
  EXPECT_EQ(reference.parts[0].high, (1 << 25) + 1);
  EXPECT_EQ(reference.parts[0].magnitude, (1 << 25) + 1);
}

TEST(ReferenceSum, OfThePartsAddsUpToTheWhole) {
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, reference_chunk, reference_chunk + 1,
                                10 * reference_chunk + 17}) {
    for (const ElementType type : {ElementType::int64, ElementType::float32, ElementType::complex128}) {
      const Input input{Data::random, 3, n};
      const Reference whole = reference_sum(input, type);
      for (const std::uint64_t ranks : {1u, 2u, 3u, 7u}) {
        Reference total{type};
        for (std::uint64_t rank = 0; rank < ranks; ++rank)
          total.add(reference_sum(input, type, {rank, ranks}));
        EXPECT_EQ(total.integer, whole.integer) << n << " elements, " << ranks << " ranks";
        for (const std::size_t part : {0u, 1u}) {
          const ReferenceSum& sum = total.parts[part];
          const ReferenceSum& expected = whole.parts[part];
          const double difference = (sum.high - expected.high) + (sum.low - expected.low);
          EXPECT_LE(std::abs(difference), 1e-25 * expected.magnitude)
              << n << " elements, " << ranks << " ranks";
          EXPECT_NEAR(sum.magnitude, expected.magnitude, 1e-12 * expected.magnitude);
        }
      }
    }
  }
}

TEST(ReferenceSum, OfAPartIsThatOfItsChunks) {
  const Input ones{Data::ones, 1, 10 * reference_chunk + 17};
  EXPECT_EQ(reference_sum(ones, ElementType::int32, {0, 4}).integer, 3 * reference_chunk);       // 0, 4, 8
  EXPECT_EQ(reference_sum(ones, ElementType::int32, {2, 4}).integer, 2 * reference_chunk + 17);  // 2, 6, 10
  EXPECT_EQ(reference_sum(ones, ElementType::int32, {11, 12}).integer, 0u);
}

TEST(ReferenceSum, KeepsWhatADoubleLoses) {
  ReferenceSum sum;
  sum.add(1e20);
  sum.add(3.0);
  sum.add(-1e20);
  EXPECT_EQ(sum.high + sum.low, 3.0);
  EXPECT_EQ(sum.magnitude, 2e20 + 3.0);
}

TEST(RoundingBound, IsHighamsGamma) {
  EXPECT_DOUBLE_EQ(rounding_bound(2.0, 10, 0x1p-24), 2.0 * 10 * 0x1p-24 / (1 - 10 * 0x1p-24));
  EXPECT_EQ(rounding_bound(5.0, 0, 0x1p-24), 0.0);
  // It holds nothing only where every addition could have been lost.
  EXPECT_DOUBLE_EQ(rounding_bound(1.0, 1 << 23, 0x1p-24), 1.0);
  EXPECT_EQ(rounding_bound(1.0, 1 << 24, 0x1p-24), std::numeric_limits<double>::infinity());
}

TEST(Verify, IntegersHaveToAgreeExactly) {
  Reference reference{ElementType::int32};
  reference.integer = 0xffffffffu + std::uint64_t{5};  // 4 once it has wrapped around
  EXPECT_TRUE(verify(value_of<std::int32_t>(ElementType::int32, 4), reference, 100).verified);
  const Verdict wrong = verify(value_of<std::int32_t>(ElementType::int32, 3), reference, 100);
  EXPECT_FALSE(wrong.verified);
  EXPECT_EQ(wrong.error, 1.0);
  reference.type = ElementType::int64;
  EXPECT_FALSE(verify(value_of<std::int64_t>(ElementType::int64, 4), reference, 100).verified);
}

TEST(Verify, FloatsMayBeWrongByRoundingOnly) {
  Reference reference{ElementType::float32};
  reference.parts[0] = {1000.0, 0.0, 4000.0};
  const double bound = rounding_bound(4000.0, 11, 0x1p-24);
  const auto verdict_of = [&](double result) {
    return verify(value_of<float>(ElementType::float32, static_cast<float>(result)), reference, 10);
  };
  EXPECT_TRUE(verdict_of(1000.0).verified);
  EXPECT_TRUE(verdict_of(1000.0 + 0.9 * bound).verified);
  EXPECT_FALSE(verdict_of(1000.0 + 1.2 * bound).verified);
  EXPECT_FALSE(verdict_of(1000.0 - 1.2 * bound).verified);
}

TEST(Verify, NotANumberAndInfinityNeverPass) {
  for (const ElementType type : {ElementType::float32, ElementType::complex64}) {
    const Reference reference{type};
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      EXPECT_FALSE(verify(value_of<float>(type, bad), reference, 1'000'000).verified);
      if (is_complex(type)) {
        EXPECT_FALSE(verify(value_of<float>(type, 0.0f, bad), reference, 1).verified);
      }
    }
  }
}

TEST(Verify, AComplexSumNeedsBothItsParts) {
  Reference reference{ElementType::complex128};
  reference.parts[0] = {1.0, 0.0, 1.0};
  reference.parts[1] = {-2.0, 0.0, 2.0};
  EXPECT_TRUE(verify(value_of(ElementType::complex128, 1.0, -2.0), reference, 4).verified);
  EXPECT_FALSE(verify(value_of(ElementType::complex128, 1.0, -2.1), reference, 4).verified);
  const Verdict wrong = verify(value_of(ElementType::complex128, 1.5, -2.0), reference, 4);
  EXPECT_FALSE(wrong.verified);
  EXPECT_DOUBLE_EQ(wrong.error, 0.5);
}

}  // namespace
}  // namespace reduction
