#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
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

/// Passes every value around the block through shared memory: right only if the barrier is one.
template <typename T> __global__ void rotate(T* data, unsigned rounds) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  for (unsigned round = 0; round < rounds; ++round) {
    shared[(threadIdx.x + 1) % blockDim.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = shared[threadIdx.x];
    __syncthreads();
  }
}

TEST(EmulatedDevice, BlockBarrierSeparatesWritesFromReads) {
  for (const unsigned block : {1U, 48U, 1024U}) {
    DeviceArray<std::uint64_t> data{block};
    std::iota(data.begin(), data.end(), 0);
    const Counters counted = counters_of([&] {
      launch({1, block, block * sizeof(std::uint64_t)}, rotate<std::uint64_t>, data.begin(), 5U);
    });
    for (unsigned i = 0; i < block; ++i)
      EXPECT_EQ(data[(i + 5) % block], i);
    EXPECT_EQ(counted.block_barriers, 10U);
  }
}

__global__ void take_a_ticket_on_the_host(unsigned* ticket) { atomicInc(ticket, 2); }

TEST(EmulatedDevice, TakesTheHostsMemoryForNoDeviceVariable) {
  const auto ticket = std::make_unique<unsigned>(0);
  EXPECT_NE(finding_of([&] {
              launch({1, 32, 0}, take_a_ticket_on_the_host, ticket.get());
            }).find("out of bounds"),
            std::string::npos);
}

template <typename T> __global__ void read_at(const T* in, T* out, long index) { out[0] = in[index]; }
template <typename T> __global__ void read_shared_at(T* out, long index) {
  extern __shared__ std::byte bytes[];
  out[0] = reinterpret_cast<T*>(bytes)[index];
}

TEST(EmulatedDevice, StopsAccessesOutOfBounds) {
  using T = std::uint64_t;
  DeviceArray<std::uint64_t> in{10};
  DeviceArray<std::uint64_t> out{1};
  for (const long index : {-1L, 10L, 1000L, 1L << 40}) {
    EXPECT_NE(finding_of([&] {
                launch({1, 1, 0}, read_at<T>, in.begin(), out.begin(), index);
              }).find("bounds"),
              std::string::npos);
  }
  for (const long index : {-1L, 32L}) {
    EXPECT_NE(finding_of([&] {
                launch({1, 1, 256}, read_shared_at<T>, out.begin(), index);
              }).find("shared"),
              std::string::npos);
  }
  launch({1, 1, 0}, read_at<T>, in.begin(), out.begin(), 9L);
}

__global__ void miss_a_barrier(unsigned threads) {
  if (threadIdx.x < threads) __syncthreads();
}

__global__ void part_at_barriers() {
  if (threadIdx.x < 7) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

__global__ void miss_a_warp_barrier() {
  if (threadIdx.x % 2 == 0) __syncwarp();
  __syncthreads();
}

TEST(EmulatedDevice, EndsADeadlockWithAFinding) {
  EXPECT_NE(finding_of([] {
              launch({1, 64, 0}, miss_a_barrier, 40U);
            }).find("threads 40-63 have left"),
            std::string::npos);
  EXPECT_NE(finding_of([] {
              launch({1, 64, 0}, part_at_barriers);
            }).find("threads 0-6 wait"),
            std::string::npos);
  EXPECT_NE(finding_of([] {
              launch({1, 32, 0}, miss_a_warp_barrier);
            }).find("__syncwarp()"),
            std::string::npos);
  launch({1, 64, 0}, miss_a_barrier, 64U);
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

/// A fault in a function that may not throw, and while an object is destroyed.
struct StoresWhenDestroyed {
  ~StoresWhenDestroyed() { *where = 1; }
  unsigned* where;
};
unsigned load_without_throwing(const unsigned* from) noexcept { return *from; }
__global__ void fault_where_nothing_may_throw(unsigned* out, bool in_destructor) {
  if (in_destructor) {
    const StoresWhenDestroyed object{out + 1};
  } else {
    out[0] = load_without_throwing(out + 1);
  }
}

TEST(EmulatedDevice, ReportsAFaultWhereNothingMayThrow) {
  DeviceArray<unsigned> out{1};
  for (const bool in_destructor : {false, true}) {
    EXPECT_NE(finding_of([&] {
                launch({1, 32, 0}, fault_where_nothing_may_throw, out.begin(), in_destructor);
              }).find("out of bounds"),
              std::string::npos);
  }
}

__device__ unsigned recurse(unsigned depth) {
  volatile unsigned local[16] = {depth};
  return depth == 0 ? 1 : recurse(depth - 1) + local[depth % 16];
}
__global__ void recurse_to(unsigned depth, unsigned* out) {
  const unsigned sum = recurse(depth);
  if (threadIdx.x == 0) out[0] = sum;
}
__global__ void take_much_stack(unsigned* out) {
  volatile unsigned local[1 << 16];
  local[0] = threadIdx.x;
  if (threadIdx.x == 0) out[0] = local[0];
}

TEST(EmulatedDevice, ReportsAStackOverflowAndGoesOn) {
  DeviceArray<unsigned> out{1};
  for (unsigned repetition = 0; repetition < 3; ++repetition) {
    launch({1, 64, 0}, recurse_to, 10U, out.begin());
    const std::string deep = finding_of([&] { launch({1, 64, 0}, recurse_to, 1'000'000U, out.begin()); });
    EXPECT_TRUE(deep.starts_with("stack overflow in recurse_to: block 0, thread 0 has used up its stack at "))
        << deep;
    EXPECT_NE(deep.find("emulated/device_test.cpp:"), std::string::npos) << deep;
    const std::string wide = finding_of([&] { launch({1, 64, 0}, take_much_stack, out.begin()); });
    EXPECT_TRUE(wide.starts_with("stack overflow in take_much_stack: block 0, thread 0")) << wide;
  }
}

TEST(EmulatedDevice, RefusesLaunchesThatNoDeviceHas) {
  for (const LaunchConfig& config : {LaunchConfig{0, 32, 0}, LaunchConfig{1, 0, 0}, LaunchConfig{1, 1025, 0},
                                     LaunchConfig{1U << 31, 32, 0}, LaunchConfig{1, 32, 227 * 1024 + 1}}) {
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
