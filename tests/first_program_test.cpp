/// docs/first_program/main.cu on the emulated device: its kernel is counted and checked, and the stand-in for CUDA's runtime
/// refuses what a GPU would refuse.
#include <device_launch_parameters.h>
#include <gtest/gtest.h>

#include <vector>

#define main first_program
#include "docs/first_program/main.cu"
#undef main
#include "device_array.hpp"

namespace {

using reduction::emulated::finding_of;

TEST(FirstProgram, GivesTheRightSum) {
  EXPECT_EQ(first_program(), 0);
  const auto& launches = reduction::emulated::all_launches.launches();
  ASSERT_EQ(launches.size(), 3U);
  EXPECT_EQ(launches[0].blocks, 3907U);
  EXPECT_EQ(launches[1].blocks, 16U);
}

TEST(FirstProgram, HasAFindingWhereItsKernelIsCalledWrongly) {
  int* in = nullptr;
  int* out = nullptr;
  const std::vector<int> ones(1000, 1);
  ASSERT_EQ(cudaMalloc(&in, 1000 * sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&out, 4 * sizeof(int)), cudaSuccess);
  const auto finding = [&](unsigned grid, size_t shared_bytes, size_t n) {
    return finding_of([&] { reduce_kernel<<<grid, 256, shared_bytes>>>(in, out, n); });
  };
  EXPECT_NE(finding(4, 1024, 1000).find("uninitialised read in reduce_kernel: block 0, thread 0 reads"),
            std::string::npos);
  ASSERT_EQ(cudaMemcpy(in, ones.data(), 1000 * sizeof(int), cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(finding(4, 1024, 1000), "");
  EXPECT_NE(finding(4, 1024, 1001).find("reads 4-byte word 1000 of a global buffer (1000 words)"),
            std::string::npos);
  EXPECT_NE(finding(5, 1024, 1000).find("writes 4-byte word 4 of a global buffer (4 words)"),
            std::string::npos);
  EXPECT_NE(finding(4, 512, 1000).find("writes 4-byte word 128 of shared memory (128 words)"),
            std::string::npos);
  EXPECT_EQ(cudaFree(in), cudaSuccess);
  EXPECT_EQ(cudaFree(out), cudaSuccess);
}

TEST(FirstProgram, CopiesOnlyWhereBothSidesHaveTheBytes) {
  int* device = nullptr;
  std::vector<int> host(10, 7);
  ASSERT_EQ(cudaMalloc(&device, 10 * sizeof(int)), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(host.data(), device, 40, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(host[9], -1) << "memory is not zero to begin with";
  EXPECT_EQ(cudaMemcpy(device, host.data(), 40, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host.data(), host.data(), 40, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, host.data(), 44, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host.data(), device + 1, 40, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(host.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&device, size_t{1} << 62), cudaErrorMemoryAllocation);
}

TEST(FirstProgram, AllocatesAndCopiesNothingAsAGpuDoes) {
  int host = 7;
  int* nothing = &host;
  int* device = nullptr;
  EXPECT_EQ(cudaMalloc(&nothing, 0), cudaSuccess);
  EXPECT_EQ(nothing, nullptr);
  ASSERT_EQ(cudaMalloc(&device, 8), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(nothing, &host, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&host, nothing, 0, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device + 2, &host, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaFree(nothing), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST(FirstProgram, FreesOnlyWhatCudaMallocHasReturned) {
  int* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 8), cudaSuccess);
  EXPECT_EQ(cudaFree(device + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
}

__constant__ int factors[4];
__device__ int sums[4];

__global__ void add_factors() { sums[threadIdx.x] += factors[threadIdx.x]; }

TEST(FirstProgram, CopiesToAndFromVariablesOfTheDevice) {
  const std::vector<int> in{1, 2, 3, 4};
  std::vector<int> out(4);
  EXPECT_EQ(cudaMemcpyToSymbol(factors, in.data(), 16), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(sums, in.data(), 8, 8), cudaSuccess);
  add_factors<<<1, 4>>>();
  EXPECT_EQ(cudaMemcpyFromSymbol(out.data(), sums, 16), cudaSuccess);
  EXPECT_EQ(out, (std::vector{1, 2, 4, 6}));
  EXPECT_EQ(cudaMemcpyToSymbol(factors, in.data(), 16, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyFromSymbol(out.data(), sums, 20), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(factors, nullptr, 0), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(nullptr, sums, 0, 16, cudaMemcpyDeviceToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(out.data(), sums, 4, 0, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
}

struct Step {
  int by;
};
__device__ volatile int flags[2];
__device__ __managed__ int total;

__global__ void raise(const __grid_constant__ Step step) {
  flags[1] = flags[0] + step.by;
  total = total + step.by;
}

TEST(FirstProgram, HasVolatileAndManagedVariables) {
  const int seen = 40;
  int raised = 0;
  total = 1;
  EXPECT_EQ(cudaMemcpyToSymbol(flags, &seen, 4), cudaSuccess);
  raise<<<1, 1>>>(Step{2});
  EXPECT_EQ(cudaMemcpyFromSymbol(&raised, flags, 4, 4), cudaSuccess);
  EXPECT_EQ(raised, 42);
  EXPECT_EQ(total, 3);
}

}  // namespace
