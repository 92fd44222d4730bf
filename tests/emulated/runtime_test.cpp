/// The functions of CUDA's runtime do on the emulated device what they do on a GPU, and refuse what a GPU would refuse.
#include <device_launch_parameters.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"

namespace {

using __emulated::finding_of;

/// Memory of cudaMalloc for a test.
class Cells {
 public:
  explicit Cells(size_t count) { EXPECT_EQ(cudaMalloc(&at_, count * sizeof(int)), cudaSuccess); }
  ~Cells() { EXPECT_EQ(cudaFree(at_), cudaSuccess); }
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;
  operator int*() const { return at_; }

 private:
  int* at_ = nullptr;
};

TEST(Runtime, CopiesOnlyWhereBothSidesHaveTheBytes) {
  const Cells device(10);
  std::vector<int> host(10, 7);
  const auto copy = [&](int* to, const int* from, size_t bytes, cudaMemcpyKind kind = cudaMemcpyDefault) {
    return cudaMemcpy(to, from, bytes, kind);
  };
  EXPECT_EQ(copy(host.data(), device, 40, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(host[9], -1) << "memory is not zero to begin with";
  EXPECT_EQ(copy(device, host.data(), 40, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(copy(host.data(), host.data(), 40, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(copy(device, host.data(), 4, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  EXPECT_EQ(copy(device, host.data(), 44, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(copy(host.data(), device + 1, 40), cudaErrorInvalidValue);
  EXPECT_EQ(copy(device + 10, host.data(), 0), cudaSuccess);
  host[0] = 7;
  EXPECT_EQ(copy(device, host.data(), 4), cudaSuccess) << "the pointers say which way";
  EXPECT_EQ(copy(device + 1, device, 4), cudaSuccess);
  EXPECT_EQ(copy(&host[1], device + 1, 4), cudaSuccess);
  EXPECT_EQ(host[1], 7);
}

TEST(Runtime, FreesOnlyWhatItHasAllocated) {
  int host = 7;
  int* device = &host;
  EXPECT_EQ(cudaMalloc(&device, size_t{1} << 62), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&device, 0), cudaSuccess);
  EXPECT_EQ(device, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFree(&host), cudaErrorInvalidValue);
  ASSERT_EQ(cudaMalloc(&device, 8), cudaSuccess);
  EXPECT_EQ(cudaFree(device + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
}

__constant__ int factors[4];
__device__ int sums[4];

__global__ void add_factors() { sums[threadIdx.x] += factors[threadIdx.x]; }

TEST(Runtime, CopiesToAndFromVariablesOfTheDevice) {
  const std::vector<int> in{1, 2, 3, 4};
  std::vector<int> out(4);
  EXPECT_EQ(cudaMemcpyToSymbol(factors, in.data(), 16), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(sums, in.data(), 8, 8), cudaSuccess);
  add_factors<<<1, 4>>>();
  EXPECT_EQ(cudaMemcpyFromSymbol(out.data(), sums, 16), cudaSuccess);
  EXPECT_EQ(out, (std::vector{1, 2, 4, 6}));
  EXPECT_EQ(cudaMemcpyToSymbol(factors, in.data(), 16, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyFromSymbol(out.data(), sums, 20), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyFromSymbol(out.data(), sums, 4, 0, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);

  void* address = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cudaGetSymbolAddress(&address, sums), cudaSuccess);
  EXPECT_EQ(cudaGetSymbolSize(&bytes, sums), cudaSuccess);
  EXPECT_EQ(bytes, 16U);
  EXPECT_EQ(cudaMemcpy(out.data(), static_cast<int*>(address) + 3, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out[0], 6);
  EXPECT_EQ(cudaMemset(address, 0, 20), cudaErrorInvalidValue);
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

TEST(Runtime, HasVolatileAndManagedVariables) {
  const int seen = 40;
  int raised = 0;
  total = 1;
  EXPECT_EQ(cudaMemcpyToSymbol(flags, &seen, 4), cudaSuccess);
  raise<<<1, 1>>>(Step{2});
  EXPECT_EQ(cudaMemcpyFromSymbol(&raised, flags, 4, 4), cudaSuccess);
  EXPECT_EQ(raised, 42);
  EXPECT_EQ(total, 3);
}

__global__ void increase(int* cells) { cells[threadIdx.x] += 1; }

TEST(Runtime, SetsMemoryWhichKernelsMayThenRead) {
  const Cells device(8);
  std::vector<int> host(8);
  EXPECT_EQ(cudaMemset(device, 0, 16), cudaSuccess);
  EXPECT_EQ(finding_of([&] { increase<<<1, 4>>>(device); }), "");
  EXPECT_NE(finding_of([&] { increase<<<1, 8>>>(device); }).find("uninitialised read in increase"),
            std::string::npos);
  EXPECT_EQ(cudaMemsetAsync(device + 4, 0x01, 16), cudaSuccess);
  increase<<<1, 8>>>(device);
  EXPECT_EQ(cudaMemcpyAsync(host.data(), device, 32, cudaMemcpyDeviceToHost, nullptr), cudaSuccess);
  EXPECT_EQ(host[7], 0x01010102);
  EXPECT_EQ(cudaMemset(device + 1, 0, 32), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host.data(), 0, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(nullptr, 0, 0), cudaSuccess);
}

TEST(Runtime, HasMemoryThatHostAndKernelsUse) {
  int* managed = nullptr;
  int* pinned = nullptr;
  int* mapped = nullptr;
  const Cells device(4);
  ASSERT_EQ(cudaMallocManaged(&managed, 16), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 16), cudaSuccess);
  ASSERT_EQ(cudaHostAlloc(&mapped, 16, cudaHostAllocMapped), cudaSuccess);
  for (int* const cells : {managed, pinned, mapped}) {
    cells[3] = 41;
    EXPECT_EQ(finding_of([&] { increase<<<1, 4>>>(cells); }), "");
    EXPECT_EQ(cells[3], 42);
    EXPECT_EQ(cudaMemcpy(device, cells, 16, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(cells, device, 16, cudaMemcpyDeviceToDevice), cudaSuccess);
    EXPECT_NE(finding_of([&] { increase<<<1, 5>>>(cells); }).find("out of bounds in increase"),
              std::string::npos);
  }
  int* on_device = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&on_device, mapped, 0), cudaSuccess);
  EXPECT_EQ(on_device, mapped);
  EXPECT_EQ(cudaHostGetDevicePointer(&on_device, device, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPrefetchAsync(managed, 16, 0), cudaSuccess);
  EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(managed), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(mapped), cudaSuccess);
}

TEST(Runtime, CopiesAndSetsRows) {
  int* device = nullptr;
  size_t pitch = 0;
  const std::vector<int> in{1, 2, 3, 4, 5, 6};
  std::vector<int> out(6);
  ASSERT_EQ(cudaMallocPitch(&device, &pitch, 12, 2), cudaSuccess);
  EXPECT_EQ(pitch, 512U);
  EXPECT_EQ(cudaMemset2D(device, pitch, 0, 12, 2), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(device, pitch, in.data(), 12, 8, 2, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(out.data(), 12, device, pitch, 12, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(out, (std::vector{1, 2, 0, 4, 5, 0}));
  EXPECT_EQ(cudaMemcpy2D(out.data(), 4, device, pitch, 8, 2, cudaMemcpyDeviceToHost),
            cudaErrorInvalidPitchValue);
  EXPECT_NE(finding_of([&] { increase<<<1, 4>>>(device); }).find("uninitialised read"), std::string::npos)
      << "behind a row";
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST(Runtime, KeepsTheLastErrorUntilItIsAskedFor) {
  cudaGetLastError();  // another test's
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidDevice), "invalid device ordinal");
}

TEST(Runtime, KnowsTheDevice) {
  int value = 0;
  cudaDeviceProp properties;
  EXPECT_EQ(cudaGetDeviceCount(&value), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(properties.name, "emulated H200");
  EXPECT_EQ(properties.multiProcessorCount, 132);
  EXPECT_EQ(properties.sharedMemPerBlock, 49152U);
  EXPECT_EQ(properties.maxThreadsPerMultiProcessor, 2048);
  EXPECT_EQ(properties.major * 10 + properties.minor, 80);
  size_t available = 0;
  size_t in_all = 0;
  EXPECT_EQ(cudaMemGetInfo(&available, &in_all), cudaSuccess);
  EXPECT_EQ(properties.totalGlobalMem, in_all);
  EXPECT_TRUE(0 < available && available < in_all);
  // Nothing of a buffer is there before it is touched.
  std::byte* large = nullptr;
  EXPECT_EQ(cudaMalloc(&large, in_all / 2), cudaSuccess);
  EXPECT_EQ(cudaMemset(large + in_all / 2 - 8, 0, 8), cudaSuccess);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  EXPECT_LT(static_cast<size_t>(usage.ru_maxrss) << 10, in_all / 4);
  EXPECT_EQ(cudaMalloc(&large, in_all / 2 + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
  EXPECT_EQ(value, 232448);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

}  // namespace
