#include "harness/sampling.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

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

/// How many samples are taken where these come in turn, and each takes a tenth of a second.
std::size_t taken(const std::optional<std::size_t>& fixed, const std::vector<double>& ms) {
  std::size_t k = 0;
  return take_samples(
             fixed, [&] { return ms[k++ % ms.size()]; }, [&](double) { return 0.1 * static_cast<double>(k); })
      .size();
}

TEST(TakeSamples, AFixedNumberIsTakenToTheLetter) {
  EXPECT_EQ(taken(3, {1, 5, 9}), 3u);
  EXPECT_EQ(taken(30, {1}), 30u) << "though two seconds have gone by, and all agree";
}

TEST(TakeSamples, OtherwiseAgreementOrTimeEndsIt) {
  EXPECT_EQ(taken({}, {1}), 10u);
  EXPECT_EQ(taken({}, {1, 2}), 20u) << "in two seconds";
  EXPECT_EQ(take_samples(
                {}, [] { return 1.0; }, [](double) { return 100.0; })
                .size(),
            1u);
}

TEST(TakeSamples, AgreeWithinHalfAPercent) {
  EXPECT_EQ(taken({}, {1, 1.004}), 10u);
  EXPECT_EQ(taken({}, {1, 1.006}), 20u);
  EXPECT_EQ(taken({}, {1, 1.04}), 20u);
}

}  // namespace
}  // namespace reduction
