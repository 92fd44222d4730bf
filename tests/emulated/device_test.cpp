#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "device/shuffle_down.cuh"
#include "emulated/device_array.hpp"
#include "emulated/language/complex.hpp"

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
    launch({7, block, 0}, write_indices<std::uint32_t>, out.begin());
    for (unsigned i = 0; i < 7 * block; ++i)
      ASSERT_EQ(out[i], i / block * 1000 + i % block) << block;
    EXPECT_EQ(last_launch_counters().blocks, 7);
    EXPECT_EQ(last_launch_counters().threads, 7 * block);
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
    launch({1, block, block * sizeof(std::uint64_t)}, rotate<std::uint64_t>, data.begin(), 5U);
    for (unsigned i = 0; i < block; ++i)
      EXPECT_EQ(data[(i + 5) % block], i);
    EXPECT_EQ(last_launch_counters().block_barriers, 10);
  }
}

/// Each warp sums its lanes in two ways; the last warp may be a part of one.
template <typename T> __global__ void sum_warps(T* by_shuffles, T* by_shared_memory) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned lane = threadIdx.x % 32;
  T sum = static_cast<float>(threadIdx.x);
  for (int lane_mask = 16; lane_mask > 0; lane_mask /= 2)
    sum += __shfl_xor_sync(0xffffffff, sum, lane_mask);
  if (lane == 0) by_shuffles[threadIdx.x / 32] = sum;

  shared[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncwarp();
  if (lane != 0) return;
  sum = T{};
  for (unsigned i = 0; i < 32; ++i)
    sum += shared[threadIdx.x + i];
  by_shared_memory[threadIdx.x / 32] = sum;
}

TEST(EmulatedDevice, WarpsSumByShufflesAndByWarpBarriers) {
  DeviceArray<float> shuffled{3};
  DeviceArray<float> shared{3};
  launch({1, 96, 96 * sizeof(float)}, sum_warps<float>, shuffled.begin(), shared.begin());
  for (unsigned warp = 0; warp < 3; ++warp) {
    const float expected = static_cast<float>(32 * (32 * warp) + 31 * 32 / 2);
    EXPECT_EQ(shuffled[warp], expected);
    EXPECT_EQ(shared[warp], expected);
  }
  EXPECT_EQ(last_launch_counters().shuffles, 3 * 5);
  EXPECT_EQ(last_launch_counters().warp_barriers, 3);
}

template <typename T> __global__ void shuffle_down_by_one(T* out) {
  const T own = out[threadIdx.x];
  out[threadIdx.x] = shuffle_down(own, 1);
}

/// Shuffles that one value of each lane takes, which end up one lane further down.
template <typename T> std::uint64_t shuffles_of_one_value() {
  DeviceArray<T> out{32};
  for (unsigned lane = 0; lane < 32; ++lane)
    out[lane] = static_cast<T>(static_cast<float>(lane));
  launch({1, 32, 0}, shuffle_down_by_one<T>, out.begin());
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane], static_cast<T>(static_cast<float>(lane < 31 ? lane + 1 : 31))) << lane;
  return last_launch_counters().shuffles;
}

TEST(EmulatedDevice, CountsShufflesByTheWord) {
  EXPECT_EQ(shuffles_of_one_value<float>(), 1U);
  EXPECT_EQ(shuffles_of_one_value<std::uint64_t>(), 2U);
  EXPECT_EQ(shuffles_of_one_value<Complex<float>>(), 2U);
  EXPECT_EQ(shuffles_of_one_value<Complex<double>>(), 4U);
}

template <typename T> __global__ void pass_on_at_once(T* out) {
  out[threadIdx.x] = __shfl_down_sync(0xffffffff, out[threadIdx.x], 1);
}

TEST(EmulatedDevice, CountsTheShufflesThatALargeValueTakesAtOnce) {
  DeviceArray<double> out{32};
  out[1] = 0.1;
  launch({1, 32, 0}, pass_on_at_once<double>, out.begin());
  EXPECT_EQ(out.begin()[0], 0.1);
  EXPECT_EQ(last_launch_counters().shuffles, 2U);
}

template <typename T> __global__ void any_thread(T* out, unsigned which) {
  out[threadIdx.x] = __syncthreads_or(threadIdx.x == which) ? 1 : 0;
  out[threadIdx.x] += __syncthreads_or(0) ? 2 : 0;
}

TEST(EmulatedDevice, BlockBarrierTellsWhetherAnyThreadSaidYes) {
  DeviceArray<std::uint32_t> out{96};
  for (const unsigned which : {0U, 40U, 95U, 96U}) {
    launch({1, 96, 0}, any_thread<std::uint32_t>, out.begin(), which);
    for (const std::uint32_t answer : out)
      EXPECT_EQ(answer, which < 96 ? 1U : 0U) << which;
    EXPECT_EQ(last_launch_counters().block_barriers, 2);
  }
}

__device__ unsigned turnstile;

template <typename T> __global__ void count_in_threes(T* out) {
  out[size_t{blockIdx.x} * blockDim.x + threadIdx.x] = atomicInc(&turnstile, 2);
}

TEST(EmulatedDevice, CountsTicketsInADeviceVariable) {
  turnstile = 0;
  DeviceArray<std::uint32_t> out{96};
  launch({3, 32, 0}, count_in_threes<std::uint32_t>, out.begin());
  for (std::uint32_t ticket = 0; ticket < 3; ++ticket)
    EXPECT_EQ(std::count(out.begin(), out.end(), ticket), 32);
  EXPECT_EQ(turnstile, 0U);
  EXPECT_EQ(last_launch_counters().atomics, 96);
}

__global__ void take_a_ticket_on_the_host(unsigned* ticket) { atomicInc(ticket, 2); }

TEST(EmulatedDevice, TakesTheHostsMemoryForNoDeviceVariable) {
  const auto ticket = std::make_unique<unsigned>(0);
  EXPECT_NE(finding_of([&] {
              launch({1, 32, 0}, take_a_ticket_on_the_host, ticket.get());
            }).find("out of bounds"),
            std::string::npos);
}

template <typename T> __global__ void shuffle_each_way(T* out) {
  const unsigned lane = threadIdx.x;
  out[lane] = __shfl_sync(0xffffffff, T(lane), 5, 8);
  out[32 + lane] = __shfl_up_sync(0xffffffff, T(lane), 3U);
  out[64 + lane] = __shfl_down_sync(0xffffffff, T(lane), 3U, 16);
  out[96 + lane] = __shfl_xor_sync(0xffffffff, T(lane), 9);
}

TEST(EmulatedDevice, ShufflesTakeTheirValueFromTheLaneThatCudaNames) {
  DeviceArray<std::uint32_t> out{128};
  launch({1, 32, 0}, shuffle_each_way<std::uint32_t>, out.begin());
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[lane], lane / 8 * 8 + 5);
    EXPECT_EQ(out[32 + lane], lane < 3 ? lane : lane - 3);
    EXPECT_EQ(out[64 + lane], lane % 16 > 12 ? lane : lane + 3);
    EXPECT_EQ(out[96 + lane], lane ^ 9);
  }
}

/// Half of a warp takes turns with itself; the other half does not take part.
template <typename T> __global__ void half_warp(T* out) {
  if (threadIdx.x < 16) {
    T sum = 1;
    for (unsigned delta = 8; delta > 0; delta /= 2)
      sum += __shfl_down_sync(0xffff, sum, delta, 16);
    __syncwarp(0xffff);
    if (threadIdx.x == 0) out[0] = sum;
  }
}

TEST(EmulatedDevice, MasksLetAPartOfAWarpSynchronise) {
  DeviceArray<double> out{1};
  launch({1, 32, 0}, half_warp<double>, out.begin());
  EXPECT_EQ(out[0], 16.0);
}

template <typename T> __global__ void add_all(const T* in, T* out, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}

TEST(EmulatedDevice, AtomicsAddUpAlikeOnAnyNumberOfHostThreads) {
  constexpr size_t n = 100'003;
  DeviceArray<float> in{n};
  for (size_t i = 0; i < n; ++i)
    in[i] = 1.0F / static_cast<float>(i + 1);
  std::vector<float> sums;
  for (const unsigned host_threads : {1U, 2U, 7U}) {
    const HostThreads scope{host_threads};
    DeviceArray<float> out{1};
    launch({ceil_divide(n, 128), 128, 0}, add_all<float>, in.begin(), out.begin(), n);
    EXPECT_EQ(last_launch_counters().atomics, n);
    sums.push_back(out[0]);
  }
  EXPECT_EQ(sums[0], std::accumulate(in.begin(), in.end(), 0.0F));
  EXPECT_EQ(sums[1], sums[0]);
  EXPECT_EQ(sums[2], sums[0]);
}

/// The last block to finish adds up what all blocks have stored.
template <typename T> __global__ void last_block(T* partial, T* out, unsigned* ticket) {
  partial[blockIdx.x] = blockIdx.x;
  __threadfence();
  if (atomicAdd(ticket, 1) + 1 < gridDim.x) return;
  T sum{};
  for (unsigned i = 0; i < gridDim.x; ++i)
    sum += partial[i];
  out[0] = sum;
}

TEST(EmulatedDevice, ATicketFindsTheLastBlock) {
  DeviceArray<std::uint32_t> partial{1000};
  DeviceArray<std::uint32_t> out{1};
  DeviceArray<unsigned> ticket{1};
  launch({1000, 1, 0}, last_block<std::uint32_t>, partial.begin(), out.begin(), ticket.begin());
  EXPECT_EQ(out[0], 999U * 1000 / 2);
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
  launch({3, 64, 0}, throw_at, size_t{3});
  EXPECT_EQ(last_launch_counters().blocks, 3U);
  EXPECT_EQ(last_launch_counters().block_barriers, 3U);
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

template <typename T> class EmulatedTypes : public testing::Test {};
using ElementTypes =
    testing::Types<std::uint32_t, std::uint64_t, float, double, Complex<float>, Complex<double>>;
TYPED_TEST_SUITE(EmulatedTypes, ElementTypes);

/// Each element is loaded and stored as one word, however the compiler copies a struct.
template <typename T> __global__ void copy_and_add(const T* in, T* out) {
  out[threadIdx.x] = threadIdx.x < 16 ? in[threadIdx.x] : T{};
  out[threadIdx.x] += in[threadIdx.x];
}

TYPED_TEST(EmulatedTypes, AreLoadedAndStoredAsOneWord) {
  DeviceArray<TypeParam> in{32};
  DeviceArray<TypeParam> out{32};
  std::fill(in.begin(), in.end(), TypeParam(3));
  launch({1, 32, 0}, copy_and_add<TypeParam>, in.begin(), out.begin());
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(out[i], TypeParam(static_cast<float>(i < 16 ? 6 : 3)));
  EXPECT_EQ(last_launch_counters().global_load_requests, 3U);
  EXPECT_EQ(last_launch_counters().global_load_lanes, 16U + 64U);
  EXPECT_EQ(last_launch_counters().global_store_requests, 2U);
  EXPECT_EQ(last_launch_counters().global_store_sectors, 2 * sizeof(TypeParam));
}

TEST(EmulatedDevice, HasComplexNumbersAsTheGpuHas) {
  static_assert(sizeof(Complex<float>) == 8 && alignof(Complex<float>) == 8);
  static_assert(sizeof(Complex<double>) == 16 && alignof(Complex<double>) == 16);
  static_assert(std::is_standard_layout_v<Complex<float>>);
  static_assert(std::is_trivially_default_constructible_v<Complex<float>>);
  Complex<float> sum{1, 2};
  sum += Complex<float>{3, 4} + Complex<float>{5};
  EXPECT_EQ(sum, (Complex<float>{9, 6}));
  EXPECT_FALSE(sum == (Complex<float>{9, 7}));
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
