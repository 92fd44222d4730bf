/// \file
/// 11_bulk_copy's launch by itself: it asks for the shared memory that it needs. Skipped where there is no device.

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "harness/device.hpp"
#include "kernel.cuh"

namespace reduction {
namespace {

/// CUDA devices that have bulk copies.
std::vector<int> devices_with_bulk_copies() {
  std::vector<int> found;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return found;
  for (int device = 0; device < devices; ++device) {
    int major = 0;
    cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
               "asking for a device");
    if (major >= 9) found.push_back(device);
  }
  return found;
}

/// The sum of ones, as the step's launch leaves it on that device.
float sum_of_ones(int ordinal, std::size_t n) {
  constexpr unsigned grid = 4, block = 1024;
  const auto device = open_cuda_device(ordinal);
  const DeviceBuffer in(*device, n * sizeof(float));
  const DeviceBuffer out(*device, grid * sizeof(float));
  device->fill(in.data(), {Data::ones, 0, n}, ElementType::float32, 0, n);
  launch_reduce(grid, block, static_cast<const float*>(in.data()), static_cast<float*>(out.data()), n);
  cuda_check(cudaGetLastError(), "launching a kernel");
  float sum = 0;
  device->download(&sum, out.data(), sizeof(sum));
  return sum;
}

constexpr std::size_t n = 1000003;

/// CTest runs each test in a process of its own: nothing has asked for the ring before.
TEST(GpuBulkCopy, LaunchesWithoutItsGridSize) {
  const auto devices = devices_with_bulk_copies();
  if (devices.empty()) GTEST_SKIP() << "no CUDA device of compute capability 9.0";
  EXPECT_EQ(sum_of_ones(devices.front(), n), static_cast<float>(n));
}

TEST(GpuBulkCopy, LaunchesOnASecondDevice) {
  const auto devices = devices_with_bulk_copies();
  if (devices.size() < 2) GTEST_SKIP() << "no two CUDA devices of compute capability 9.0";
  cuda_check(cudaSetDevice(devices[0]), "choosing the device");
  EXPECT_GE(grid_size<float>(n, 1024), 1U);
  EXPECT_EQ(sum_of_ones(devices[1], n), static_cast<float>(n));
}

}  // namespace
}  // namespace reduction
