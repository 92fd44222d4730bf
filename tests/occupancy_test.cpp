// What kernels learn of a GPU's size, from a stand-in for CUDA's runtime.
#define __CUDACC__
#include "device/cuda_or_emulated.cuh"
#undef __CUDACC__

#include <gtest/gtest.h>

namespace {

void kernel(const float*, float*, size_t) {}

TEST(Occupancy, FillsEachMultiprocessor) {
  stand_in::multiprocessors = 132;
  stand_in::blocks_per_multiprocessor = 8;
  EXPECT_EQ(blocks_to_fill_device(kernel, 256, 1024), 132U * 8);
}

/// Then a step would have no block at all, or std::clamp bounds the wrong way round.
TEST(Occupancy, LeavesItToTheLaunchThatNoBlockFits) {
  stand_in::multiprocessors = 132;
  stand_in::blocks_per_multiprocessor = 0;
  EXPECT_EQ(blocks_to_fill_device(kernel, 1024, size_t{1} << 20), 1U);
}

}  // namespace
