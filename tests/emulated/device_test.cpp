#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"

namespace {

using namespace __emulated;

/// Restores the default of set_host_threads() at the end of a test.
struct HostThreads {
  explicit HostThreads(unsigned count) { set_host_threads(count); }
  ~HostThreads() { set_host_threads(0); }
};

template <typename T> __global__ void write_indices(T* out) {
  out[size_t{blockIdx.x} * blockDim.x + threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
}

TEST(EmulatedDevice, RunsEveryThreadOfEveryBlockAtAnyBlockSize) {
  for (const unsigned block : {1U, 2U, 31U, 32U, 33U, 100U, 256U, 1000U, 1024U}) {
    DeviceArray<std::uint32_t> out{7 * block};
    const Counters counted = counters_of([&] {
      launch({7, block, 0}, write_indices<std::uint32_t>, out.begin());
    });
    for (unsigned i = 0; i < 7 * block; ++i)
      ASSERT_EQ(out[i], i / block * 1000 + i % block) << block;
    EXPECT_EQ(counted.blocks, 7U);
    EXPECT_EQ(counted.threads, 7 * block);
  }
}

/// Launches in a process that has mapped most of what its limit of address space allows, and ends it.
[[noreturn]] void launch_in_what_is_left() {
  constexpr std::size_t mapped = std::size_t{3} << 30;
  constexpr std::size_t left = reserved_bytes;  // of one host thread
  mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t most = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + left;
  const rlimit limit{most, most};
  if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
  const HostThreads scope{2};
  constexpr unsigned blocks = 64;
  constexpr unsigned block = 1024;
  DeviceArray<std::uint32_t> out{blocks * block};
  launch({blocks, block, 0}, write_indices<std::uint32_t>, out.begin());
  _exit(out[blocks * block - 1] == (blocks - 1) * 1000 + block - 1 ? 0 : 1);
}

TEST(EmulatedDeviceDeathTest, HasOneHostThreadWhereNoMoreAddressSpaceIsLeft) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(launch_in_what_is_left(), testing::ExitedWithCode(0), "");
}

__global__ void miss_a_barrier(unsigned threads) {
  if (threadIdx.x < threads) __syncthreads();
}

/// What each block throws. A kernel may not make a string: that is the host's memory.
std::exception_ptr failures[5000];

__global__ void throw_at(size_t first_block) {
  if (blockIdx.x >= first_block && threadIdx.x == 5) std::rethrow_exception(failures[blockIdx.x]);
  __syncthreads();
}

void prepare_failures() {
  for (size_t block = 0; block < std::size(failures); ++block)
    failures[block] = std::make_exception_ptr(std::runtime_error{std::to_string(block)});
}

TEST(EmulatedDevice, RethrowsWhatTheLowestFailingBlockThrew) {
  prepare_failures();
  for (const unsigned host_threads : {1U, 4U}) {
    const HostThreads scope{host_threads};
    const size_t first = 777;
    try {
      launch({5000, 64, 0}, throw_at, first);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::to_string(first));
    }
  }
}

TEST(EmulatedDevice, CountsTheNextLaunchAfreshWhereAKernelThrew) {
  prepare_failures();
  const HostThreads scope{1};
  EXPECT_THROW(launch({100, 64, 0}, throw_at, size_t{90}), std::runtime_error);
  const Counters counted = counters_of([] { launch({3, 64, 0}, throw_at, size_t{3}); });
  EXPECT_EQ(counted.blocks, 3U);
  EXPECT_EQ(counted.block_barriers, 3U);
}

TEST(EmulatedDevice, RefusesLaunchesThatNoDeviceHas) {
  for (const ExecutionConfiguration& config :
       {ExecutionConfiguration{0, 32, 0}, ExecutionConfiguration{1, 0, 0}, ExecutionConfiguration{1, 1025, 0},
        ExecutionConfiguration{1U << 31, 32, 0}, ExecutionConfiguration{1, 32, 227 * 1024 + 1}}) {
    EXPECT_THROW(launch(config, miss_a_barrier, 0U), std::invalid_argument);
  }
}

TEST(EmulatedDevice, FillsTheDeviceAsItsLimitsAllow) {
  EXPECT_EQ(blocks_to_fill_device(miss_a_barrier, 256, 1024), 132U * 8);
  EXPECT_EQ(blocks_to_fill_device(miss_a_barrier, 32, 128), 132U * 32);
  EXPECT_EQ(blocks_to_fill_device(miss_a_barrier, 64, 100 * 1024), 132U * 2);
  EXPECT_EQ(blocks_to_fill_device(miss_a_barrier, 1024, 227 * 1024), 132U);
  EXPECT_THROW(blocks_to_fill_device(miss_a_barrier, 32, 227 * 1024 + 1), std::invalid_argument);
}

TEST(EmulatedDevice, AllocatesNothingAndMuch) {
  void* nothing = allocate(0);
  release(nothing);
  release(nullptr);
  EXPECT_THROW(allocate(~size_t{0}), std::bad_alloc);
  void* much = allocate(size_t{1} << 30);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(much) % 64, 0);
  release(much);
}

}  // namespace
