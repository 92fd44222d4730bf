#include "harness/sampling.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace reduction {
namespace {

TEST(Summarise, InterpolatesBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(summarise({1, 2, 3, 4}).median, 2.5);
  EXPECT_DOUBLE_EQ(summarise({0, 10}).p5, 0.5);
  EXPECT_DOUBLE_EQ(summarise({7}).p95, 7);
}

TEST(Summarise, SortsFirst) {
  const Summary summary = summarise({5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_DOUBLE_EQ(summary.minimum, 1);
  EXPECT_DOUBLE_EQ(summary.p5, 1.2);
  EXPECT_DOUBLE_EQ(summary.p95, 4.8);
  EXPECT_DOUBLE_EQ(summary.spread(), 1.2);
}

TEST(Summarise, RefusesNoSamples) { EXPECT_THROW(summarise({}), std::invalid_argument); }

TEST(EnoughSamples, AFixedNumberIsTakenToTheLetter) {
  EXPECT_FALSE(enough_samples({3}, {1, 1}, 100));
  EXPECT_TRUE(enough_samples({3}, {1, 5, 9}, 0));
}

TEST(EnoughSamples, OtherwiseAgreementOrTimeEndsIt) {
  EXPECT_FALSE(enough_samples({}, {}, 100));
  EXPECT_TRUE(enough_samples({}, {1}, 2.5));
  EXPECT_FALSE(enough_samples({}, std::vector<double>(9, 1.0), 0.1));
  EXPECT_TRUE(enough_samples({}, std::vector<double>(10, 1.0), 0.1));
  EXPECT_FALSE(enough_samples({}, {1, 1, 1, 1, 1, 2, 2, 2, 2, 2}, 0.1));
}

TEST(EnoughSamples, AgreeWithinHalfAPercent) {
  const auto agree = [](double spread) {
    std::vector<double> ms(10, 1.0);
    ms.insert(ms.end(), 10, 1.0 + spread);
    return enough_samples({}, ms, 0.1);
  };
  EXPECT_TRUE(agree(0.004));
  EXPECT_FALSE(agree(0.006));
  EXPECT_FALSE(agree(0.04));
}

}  // namespace
}  // namespace reduction
