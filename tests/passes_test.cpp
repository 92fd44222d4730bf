#include "harness/passes.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace reduction {
namespace {

StepKernel one_element_a_thread() {
  return {[](std::size_t n, unsigned block) { return (n + block - 1) / block; }, nullptr};
}

TEST(PlanPasses, GoOnUntilOneSumIsLeft) {
  const auto passes = plan_passes(one_element_a_thread(), 1'000'003, 256);
  ASSERT_EQ(passes.size(), 3u);
  EXPECT_EQ(passes[0].blocks, 3907u);
  EXPECT_EQ(passes[1].elements, 3907u);
  EXPECT_EQ(passes[1].blocks, 16u);
  EXPECT_EQ(passes[2].blocks, 1u);
}

TEST(PlanPasses, NothingAndOneElementAreOnePassOfOneBlock) {
  for (const std::size_t n : {0u, 1u}) {
    const auto passes = plan_passes(one_element_a_thread(), n, 32);
    ASSERT_EQ(passes.size(), 1u);
    EXPECT_EQ(passes[0].elements, n);
    EXPECT_EQ(passes[0].blocks, 1u);
  }
}

TEST(PlanPasses, RefusesAGridThatNeverShrinks) {
  const StepKernel endless{[](std::size_t n, unsigned) { return n; }, nullptr};
  EXPECT_THROW(plan_passes(endless, 2, 32), std::logic_error);
  EXPECT_EQ(plan_passes(endless, 1, 32).size(), 1u);
}

TEST(TreeDepth, IsTheLogarithmRoundedUp) {
  EXPECT_EQ(tree_depth(0), 0u);
  EXPECT_EQ(tree_depth(1), 0u);
  EXPECT_EQ(tree_depth(2), 1u);
  EXPECT_EQ(tree_depth(1 << 20), 20u);
  EXPECT_EQ(tree_depth((1 << 20) + 1), 21u);
}

TEST(PlanPasses, EndAfterAPassThatIsTheWholeReduction) {
  StepKernel kernel = one_element_a_thread();
  kernel.single_pass = true;
  const auto passes = plan_passes(kernel, 1'000'003, 256);
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(passes[0].blocks, 3907u);
}

TEST(AdditionDepth, CountsTheLastBlocksOwnAdditions) {
  const auto two_passes = addition_depth({{1 << 28, 1056}, {1056, 1}}, 256);
  EXPECT_EQ(addition_depth({{1 << 28, 1056}}, 256), two_passes);
  EXPECT_LT(addition_depth({{1 << 28, 1}}, 256) - (1u << 28) / 256, 16u);
}

TEST(AdditionDepth, CountsWholeVectors) {
  // One thread of the 256 has four elements, which 5 of the levels then pass on.
  EXPECT_GE(addition_depth({{128, 1}}, 256), 4u + 5u);
  // 257 vectors for 256 threads: one of these adds eight elements.
  EXPECT_GE(addition_depth({{4 * 257, 1}}, 256), 8u + 8u);
}

TEST(AdditionDepth, CoversThreadsAndTrees) {
  EXPECT_GE(addition_depth({{256, 1}}, 256), 8u);
  EXPECT_GE(addition_depth({{1 << 28, 1056}, {1056, 1}}, 256),
            (1u << 28) / (1056 * 256) + 8 + 1056 / 256 + 8);
  EXPECT_LE(addition_depth({{1 << 28, 1056}, {1056, 1}}, 256), 1100u);
}

}  // namespace
}  // namespace reduction
