#include "harness/reduction_plan.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "device/device_error.hpp"

namespace reduction {
namespace {

StepKernel one_element_per_thread() {
  return {[](std::size_t n, unsigned block) { return (n + block - 1) / block; }, nullptr};
}

TEST(PlanPasses, GoOnUntilOneSumIsLeft) {
  const auto passes = plan_passes(one_element_per_thread(), 1'000'003, 256);
  ASSERT_EQ(passes.size(), 3u);
  EXPECT_EQ(passes[0].blocks, 3907u);
  EXPECT_EQ(passes[1].elements, 3907u);
  EXPECT_EQ(passes[1].blocks, 16u);
  EXPECT_EQ(passes[2].blocks, 1u);
}

TEST(PlanPasses, NothingAndOneElementAreOnePassOfOneBlock) {
  for (const std::size_t n : {0u, 1u}) {
    const auto passes = plan_passes(one_element_per_thread(), n, 32);
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

TEST(RequirePossibleGrids, RefusesMoreBlocksThanAGridMayHave) {
  const std::size_t most = (std::size_t{1} << 31) - 1;
  const StepKernel kernel = one_element_per_thread();
  EXPECT_NO_THROW(require_possible_grids(plan_reduction(kernel, {ElementType::int32, most * 32, 32}, {})));
  EXPECT_THROW(require_possible_grids(plan_reduction(kernel, {ElementType::int32, most * 32 + 1, 32}, {})),
               DeviceError);
}

TEST(TreeDepth, IsTheLogarithmRoundedUp) {
  EXPECT_EQ(tree_depth(0), 0u);
  EXPECT_EQ(tree_depth(1), 0u);
  EXPECT_EQ(tree_depth(2), 1u);
  EXPECT_EQ(tree_depth(1 << 20), 20u);
  EXPECT_EQ(tree_depth((1 << 20) + 1), 21u);
}

TEST(PlanPasses, EndAfterAPassThatIsTheWholeReduction) {
  StepKernel kernel = one_element_per_thread();
  kernel.traits.single_pass = true;
  const auto passes = plan_passes(kernel, 1'000'003, 256);
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(passes[0].blocks, 3907u);
}

TEST(MostAdditions, OfALibraryAreThoseOfThreadsThatFillTheDevice) {
  StepKernel library = one_element_per_thread();
  library.traits.chooses_launch = true;
  DeviceInfo device;
  device.sms = 100;
  const auto most = [&](std::size_t n) {
    return plan_reduction(library, {ElementType::float32, n, 256}, device).most_additions;
  };
  EXPECT_EQ(most(1024 * 100 * 7), 7u + 128);
  EXPECT_EQ(most(1000), 128u);
}

TEST(MostAdditions, OfAtomicsAreThoseOfATree) {
  StepKernel atomics = one_element_per_thread();
  atomics.traits.adds_atomically = true;
  EXPECT_EQ(plan_reduction(atomics, {ElementType::float32, 1 << 24, 256}, {}).most_additions, 24u);
}

/// Blocks that take a vector of four elements per thread at a time.
StepKernel vectors() {
  StepKernel kernel = one_element_per_thread();
  kernel.traits.vectors_at_a_time = [](unsigned block) { return std::size_t{block}; };
  kernel.vector_width = 4;
  return kernel;
}

TEST(AdditionDepth, IsThatOfThreadsAndTreesPassAfterPass) {
  // 256 sums of 256 elements, then one of 256: no thread adds anything itself.
  EXPECT_EQ(addition_depth(one_element_per_thread(), {{1 << 16, 256}, {256, 1}}, 256), 2 * (1 + 8));
  // Two elements per thread, as from step 04 on.
  EXPECT_EQ(addition_depth(one_element_per_thread(), {{1 << 17, 256}, {256, 1}}, 256), 2 + 8 + 1 + 8);
}

TEST(AdditionDepth, CountsAWholeTurnForWhatIsLeftOfThePairs) {
  EXPECT_EQ(addition_depth(one_element_per_thread(), {{1 << 18, 1}}, 256), 1024u + 8);
  EXPECT_EQ(addition_depth(one_element_per_thread(), {{(1 << 18) + 1, 1}}, 256), 1026u + 8);
}

TEST(AdditionDepth, AddsAVectorsElementsToEachOtherFirst) {
  // 32 of the 256 threads have a vector each: three additions in it, and one to the thread's sum.
  EXPECT_EQ(addition_depth(vectors(), {{128, 1}}, 256), 3u + 1 + 8);
  // 257 vectors for 256 threads: one of these adds two.
  EXPECT_EQ(addition_depth(vectors(), {{4 * 256, 1}}, 256), 3u + 1 + 8);
  EXPECT_EQ(addition_depth(vectors(), {{4 * 256 + 1, 1}}, 256), 3u + 2 + 8);
}

TEST(AdditionDepth, CountsAllVectorsThatAThreadTakesAtATime) {
  StepKernel tiles = vectors();
  tiles.traits.vectors_at_a_time = [](unsigned) { return std::size_t{2048}; };
  EXPECT_EQ(addition_depth(tiles, {{4 * 2048, 1}}, 256), 3u + 8 + 8);
  EXPECT_EQ(addition_depth(tiles, {{4 * 2048 + 4, 1}}, 256), 3u + 16 + 8);
}

TEST(AdditionDepth, CountsTheLastBlocksOwnAdditions) {
  EXPECT_EQ(addition_depth(vectors(), {{1 << 20, 256}}, 256), 3u + 4 + 8 + 1 + 8);
  EXPECT_EQ(addition_depth(vectors(), {{1 << 20, 1024}}, 256), 3u + 1 + 8 + 4 + 8);
}

}  // namespace
}  // namespace reduction
