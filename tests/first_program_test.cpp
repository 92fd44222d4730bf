/// docs/first_program/main.cu on the emulated device: its kernel is counted and checked.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#define main first_program
#include "docs/first_program/main.cu"
#undef main
#include "emulated/device_array.hpp"

namespace {

using __emulated::finding_of;

TEST(FirstProgram, GivesTheRightSum) {
  const auto launches = __emulated::launches_of([] { EXPECT_EQ(first_program(), 0); });
  ASSERT_EQ(launches.size(), 3U);
  EXPECT_EQ(launches[0].counters.blocks, 3907U);
  EXPECT_EQ(launches[1].counters.blocks, 16U);
}

TEST(FirstProgram, HasAFindingWhereItsKernelIsCalledWrongly) {
  int *in = nullptr, *out = nullptr;
  ASSERT_EQ(cudaMalloc(&in, 4000), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&out, 16), cudaSuccess);
  const std::vector<int> ones(1000, 1);
  const auto finding = [&](unsigned grid, size_t shared_bytes, size_t n) {
    return finding_of([&] { reduce_kernel<<<grid, 256, shared_bytes>>>(in, out, n); });
  };
  EXPECT_NE(finding(4, 1024, 1000).find("uninitialised read in reduce_kernel: block 0, thread 0 reads"),
            std::string::npos);
  ASSERT_EQ(cudaMemcpy(in, ones.data(), 4000, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(finding(4, 1024, 1000), "");
  EXPECT_NE(finding(4, 1024, 1001).find("reads 4-byte word 1000 of a global buffer (1000 words)"),
            std::string::npos);
  EXPECT_NE(finding(5, 1024, 1000).find("writes 4-byte word 4 of a global buffer (4 words)"),
            std::string::npos);
  EXPECT_NE(finding(4, 512, 1000).find("writes shared[128] (shared has 128 elements)"), std::string::npos);
  EXPECT_EQ(cudaFree(in), cudaSuccess);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

}  // namespace
