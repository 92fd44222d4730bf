#include "harness/reduction_plan.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace reduction {
namespace {

TEST(PlanConfigurations, SweepsSizesUpToWhatFitsOnAGpu) {
  const Memory memory{"a GPU", 1 << 20, "", 1 << 10};
  const auto most = [&](const Options& options) {
    return plan_configurations(options, DeviceKind::cuda, memory).back().elements;
  };
  Options options;
  options.sweep = Sweep::size;
  // In 1 MiB, 2^18 int32 would leave nothing for partial sums and timing.
  EXPECT_EQ(most(options), 1u << 17);
  options.type = ElementType::complex128;
  EXPECT_EQ(most(options), 1u << 15);
  options.elements = 1 << 12;
  EXPECT_EQ(most(options), 1u << 12);
}

StepKernel one_element_per_thread() {
  return {[](std::size_t n, unsigned block) { return (n + block - 1) / block; }, nullptr};
}

std::vector<Pass> passes_of(const StepKernel& kernel, std::size_t n, unsigned block) {
  return plan_reduction(kernel, {ElementType::int32, n, block}, {}).passes;
}

TEST(PlanPasses, GoOnUntilOneSumIsLeft) {
  const auto passes = passes_of(one_element_per_thread(), 1'000'003, 256);
  ASSERT_EQ(passes.size(), 3u);
  EXPECT_EQ(passes[0].blocks, 3907u);
  EXPECT_EQ(passes[1].elements, 3907u);
  EXPECT_EQ(passes[1].blocks, 16u);
  EXPECT_EQ(passes[2].blocks, 1u);
}

TEST(PlanPasses, NothingAndOneElementAreOnePassOfOneBlock) {
  for (const std::size_t n : {0u, 1u}) {
    const auto passes = passes_of(one_element_per_thread(), n, 32);
    ASSERT_EQ(passes.size(), 1u);
    EXPECT_EQ(passes[0].elements, n);
    EXPECT_EQ(passes[0].blocks, 1u);
  }
}

TEST(PlanPasses, RefusesAGridThatNeverShrinks) {
  const StepKernel endless{[](std::size_t n, unsigned) { return n; }, nullptr};
  EXPECT_THROW(passes_of(endless, 2, 32), std::logic_error);
  EXPECT_EQ(passes_of(endless, 1, 32).size(), 1u);
}

TEST(PlanPasses, TakeAnotherGridWhereALoopTakesTheRest) {
  const auto blocks_of = [](const StepKernel& kernel, std::size_t n, std::uint64_t grid) {
    std::vector<std::size_t> blocks;
    for (const Pass& pass : plan_reduction(kernel, {ElementType::int32, n, 256}, {}, grid).passes)
      blocks.push_back(pass.blocks);
    return blocks;
  };
  StepKernel loop{[](std::size_t n, unsigned) { return std::min<std::size_t>(n / 2, 100); }, nullptr};
  EXPECT_EQ(blocks_of(loop, 1000, 999), (std::vector<std::size_t>{999, 100, 50, 25, 12, 6, 3, 1}));
  EXPECT_THROW(blocks_of(loop, 1000, 1000), UsageError);
  EXPECT_THROW(blocks_of(one_element_per_thread(), 1000, 4), UsageError);
  loop.traits.chooses_launch = true;
  EXPECT_THROW(blocks_of(loop, 1000, 4), UsageError);
}

TEST(ReductionPlan, TakesItsInputAndTwoPassesOfPartialSums) {
  const ReductionPlan plan =
      plan_reduction(one_element_per_thread(), {ElementType::float64, 1'000'003, 256}, {});
  EXPECT_EQ(plan.buffer_bytes(), 8u * (1'000'003 + 3907 + 16));
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
  const auto passes = passes_of(kernel, 1'000'003, 256);
  ASSERT_EQ(passes.size(), 1u);
  EXPECT_EQ(passes[0].blocks, 3907u);
}

/// Blocks of 256 threads, `blocks` of them in the one pass.
template <std::size_t blocks> StepKernel single_pass() {
  StepKernel kernel{[](std::size_t, unsigned) { return blocks; }, nullptr};
  kernel.traits.single_pass = true;
  return kernel;
}

/// The same that take a vector of four elements per thread at a time.
template <std::size_t blocks> StepKernel vectors() {
  StepKernel kernel = single_pass<blocks>();
  kernel.traits.vectors_at_a_time = [](unsigned block) { return std::size_t{block}; };
  kernel.vector_width = 4;
  return kernel;
}

TEST(MostAdditions, AreThoseOfThreadsAndTreesPassAfterPass) {
  // Two elements per thread, as from step 04 on.
  const StepKernel pairs{[](std::size_t n, unsigned block) { return (n + 2 * block - 1) / (2 * block); },
                         nullptr};
  StepKernel tiles = vectors<1>();
  tiles.traits.vectors_at_a_time = [](unsigned) { return std::size_t{2048}; };
  StepKernel library = one_element_per_thread();
  library.traits.chooses_launch = true;
  StepKernel atomics = one_element_per_thread();
  atomics.traits.adds_atomically = true;
  DeviceInfo device;
  device.sms = 100;
  struct Row {
    StepKernel kernel;
    std::size_t elements;
    std::uint64_t additions;
  };
  const Row rows[] = {
      // 256 sums of 256 elements, then one of 256: no thread adds anything itself.
      {one_element_per_thread(), 1 << 16, 2 * (1 + 8)},
      {pairs, 1 << 17, 2 + 8 + 1 + 8},
      // A whole turn for what is left of the pairs.
      {single_pass<1>(), 1 << 18, 1024 + 8},
      {single_pass<1>(), (1 << 18) + 1, 1026 + 8},
      // 32 of the 256 threads have a vector each: three additions in it, and one to the thread's sum.
      {vectors<1>(), 128, 3 + 1 + 8},
      // 257 vectors for 256 threads: one of these adds two.
      {vectors<1>(), 4 * 256, 3 + 1 + 8},
      {vectors<1>(), 4 * 256 + 1, 3 + 2 + 8},
      // All vectors that a thread takes at a time.
      {tiles, 4 * 2048, 3 + 8 + 8},
      {tiles, 4 * 2048 + 4, 3 + 16 + 8},
      // The last block's own additions.
      {vectors<256>(), 1 << 20, 3 + 4 + 8 + 1 + 8},
      {vectors<1024>(), 1 << 20, 3 + 1 + 8 + 4 + 8},
      // A library's threads fill the device; atomics add as a tree does.
      {library, 1024 * 100 * 7, 7 + 128},
      {library, 1000, 128},
      {atomics, 1 << 24, 24}};
  for (const auto& [kernel, elements, additions] : rows)
    EXPECT_EQ(plan_reduction(kernel, {ElementType::float32, elements, 256}, device).most_additions, additions)
        << elements;
}

}  // namespace
}  // namespace reduction
