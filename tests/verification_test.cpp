#include "harness/verification.hpp"

#include <gtest/gtest.h>

#include <cmath>
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
