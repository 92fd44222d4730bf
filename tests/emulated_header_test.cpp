/// What the emulated device says of the kernels of reduction/reduce.cuh, and CUDA's runtime as they use it. What they compute
/// there is in reduce_header.
#include <gtest/gtest.h>

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

#include "emulated/device_array.hpp"
#include "reduction/reduce.cuh"

namespace {

using __emulated::DeviceArray;
using __emulated::finding_of;
using __emulated::launches_of;

TEST(EmulatedHeader, LoadsEachSectorOnce) {
  const std::size_t n = 74 * 4096;
  const DeviceArray<float> in{n};
  DeviceArray<float> out{1};
  const auto launches = launches_of(
      [&] { EXPECT_EQ(reduction::reduce(in.begin(), out.begin(), n, reduction::Sum{}), cudaSuccess); });
  ASSERT_EQ(launches.size(), 2U);
  const __emulated::Counters first = launches[0].counters;
  EXPECT_EQ(first.blocks, 74U) << "a tile of 4096 elements each";
  EXPECT_EQ(first.global_load_sectors, n * sizeof(float) / 32);
  EXPECT_EQ(first.global_store_requests, 74U);
  EXPECT_EQ(launches[1].counters.global_load_sectors, 4U + 4U + 2U + 5U) << "five loads find the last again";
}

TEST(EmulatedHeader, HasFindingsThatNameItsKernelAndLine) {
  DeviceArray<float> in{100000};
  DeviceArray<float> out{1};
  in.forget(99999, 1);
  const std::string finding =
      finding_of([&] { (void)reduction::reduce(in.begin(), out.begin(), 100000, reduction::Sum{}); });
  EXPECT_EQ(finding.find("uninitialised read in reduce_kernel: block 24, thread 0 reads 16-byte word 24999"),
            0U)
      << finding;
  EXPECT_NE(finding.find(" at reduction/input.cuh:"), std::string::npos) << finding;
}

__global__ void leave_number(int* out, int number) { *out = number; }

TEST(EmulatedRuntime, LaunchesWithoutClusters) {
  DeviceArray<int> out{1};
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelEx(&config, leave_number, out.begin(), 5), cudaErrorNotSupported);
  EXPECT_EQ(out[0], 0);
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  EXPECT_EQ(cudaLaunchKernelEx(&config, leave_number, out.begin(), 5), cudaSuccess);
  EXPECT_EQ(out[0], 5);
}

/// On a host that has an instruction for both, such as AArch64, a compiler would not round the product.
__global__ void multiply_and_add(const double* in, double* out) { *out = in[0] * in[0] + in[1]; }

TEST(EmulatedRuntime, RoundsAProductBeforeItAdds) {
  DeviceArray<double> in{2};
  DeviceArray<double> out{1};
  in[0] = 1 + 0x1p-30;
  in[1] = -(1 + 0x1p-29);
  multiply_and_add<<<1, 1>>>(in, out);
  EXPECT_EQ(out[0], 0);
}

}  // namespace
