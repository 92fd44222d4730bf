/// What is an endless loop, or a wait that this device cannot run, and, as important, what is none.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"

namespace {

using namespace __emulated;
using namespace std::chrono_literals;
using Array = DeviceArray<unsigned>;

/// A shorter one, while one lives.
class LoopLimit {
 public:
  explicit LoopLimit(std::chrono::nanoseconds limit) { set_loop_limit(limit); }
  LoopLimit(const LoopLimit&) = delete;
  LoopLimit& operator=(const LoopLimit&) = delete;
  ~LoopLimit() { set_loop_limit(10s); }
};

/// "endless loop at line 12: ...", with what the finding says of its first thread; "" if there is none.
std::string loop_of(const auto& launch_kernel) {
  try {
    launch_kernel();
  } catch (const KernelFinding& finding) {
    const Finding& first = finding.findings().front();
    return std::string{name_of(first.fault)} + " at line " +
           std::to_string(first.witnesses.front().location.line) + ": " + first.witnesses.front().action;
  }
  return "";
}

std::string at_line(unsigned line, const std::string& action) {
  return "endless loop at line " + std::to_string(line) + ": " + action;
}

constexpr const char* repeats = "repeats itself: its variables, and what it reads, stay the same";

// ---- loops that end ----

/// Every thread reads all elements, which differ.
__global__ void rank_sort(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned mine = in[blockIdx.x * blockDim.x + threadIdx.x];
  unsigned rank = 0;
  for (unsigned j = 0; j < n; ++j)
    rank += in[j] < mine ? 1 : 0;
  out[rank] = mine;
}

TEST(LongLoop, OfARankSortEnds) {
  constexpr unsigned n = 1U << 15;
  Array in{n};
  Array out{n};
  for (unsigned i = 0; i < n; ++i)
    in[i] = (i * 2654435761U) % n;
  EXPECT_EQ(finding_of([&] { launch({2, 1024, 0}, rank_sort, in.begin(), out.begin(), n); }), "");
  for (unsigned i = 0; i < 2048; ++i)
    ASSERT_EQ(out[in[i]], in[i]);
}

__global__ void add_up_rows(const unsigned* in, unsigned* out, unsigned rows) {
  unsigned total = 0;
  for (unsigned row = 0; row < rows; ++row) {
    unsigned sum = in[threadIdx.x];
    for (unsigned offset = 16; offset > 0; offset /= 2)
      sum += __shfl_down_sync(0xffffffff, sum, offset);
    total += sum;
  }
  out[threadIdx.x] = total;
}

TEST(LongLoop, OfManyShufflesEnds) {
  Array in{32};
  Array out{32};
  std::iota(in.begin(), in.end(), 1U);
  EXPECT_EQ(finding_of([&] { launch({1, 32, 0}, add_up_rows, in.begin(), out.begin(), 60'000U); }), "");
  EXPECT_EQ(out[0], 60'000U * 528);
}

__global__ void meet_often(unsigned times, unsigned* out) {
  for (unsigned i = 0; i < times; ++i)
    __syncthreads();
  out[threadIdx.x] = times;
}

TEST(LongLoop, OfAMillionBarriersEnds) {
  Array out{64};
  EXPECT_EQ(finding_of([&] { launch({1, 64, 0}, meet_often, 1'000'000U, out.begin()); }), "");
  EXPECT_EQ(last_launch_counters().block_barriers, 1'000'000U);
}

/// No register counts the passes, and all but one word stays the same.
__global__ void count_in_shared_memory(unsigned times) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  while (count < times) {
    __syncthreads();
    if (threadIdx.x == 0) count += 1;
    __syncthreads();
  }
}

TEST(LongLoop, ThatCountsInSharedMemoryEnds) {
  EXPECT_EQ(finding_of([&] { launch({1, 33, 0}, count_in_shared_memory, 300'000U); }), "");
}

__global__ void read_one_word(const unsigned* in, unsigned* out, unsigned times) {
  unsigned sum = 0;
  for (unsigned i = 0; i < times; ++i)
    sum += in[0];
  out[threadIdx.x] = sum;
}

TEST(LongLoop, OverOneWordEnds) {
  Array in{1};
  Array out{2};
  in[0] = 3;
  EXPECT_EQ(finding_of([&] { launch({1, 2, 0}, read_one_word, in.begin(), out.begin(), 4'000'000U); }), "");
  EXPECT_EQ(out[1], 12'000'000U);
}

__global__ void add_to_one_word(unsigned* out, unsigned times) {
  if (threadIdx.x == 0)
    while (++out[0] < times) {
    }
  if (threadIdx.x == 1)
    while (atomicAdd(out + 1, 1U) < times) {
    }
}

TEST(LongLoop, ThatCountsInGlobalMemoryEnds) {
  const LoopLimit limit{20s};
  Array out{2};
  EXPECT_EQ(finding_of([&] { launch({1, 2, 0}, add_to_one_word, out.begin(), 3'000'000U); }), "");
}

// ---- loops that do not ----

__global__ void spin_on_input(const unsigned* in) {
  while (in[0] == 0) {
  }
}
constexpr unsigned line_of_spin = __LINE__ - 3;

TEST(EndlessLoop, OfReadsIsFoundAtOnce) {
  Array in{1};
  const LoopLimit limit{1h};
  for (const Order order : {Order::ascending, Order::descending, Order::random}) {
    set_schedule({order, 7});
    EXPECT_EQ(loop_of([&] {
                launch({2, 64, 0}, spin_on_input, in.begin());
              }),
              at_line(line_of_spin, repeats));
  }
  set_schedule({});
}

/// The index is not counted up, so that a register alone changes.
__global__ void forget_to_count(const unsigned* in, unsigned* out, size_t n) {
  unsigned sum = 0;
  size_t i = threadIdx.x;
  while (i < n)
    sum += in[i];
  out[threadIdx.x] = sum;
}
constexpr unsigned line_of_sum = __LINE__ - 3;

TEST(EndlessLoop, WithASumInARegisterIsFoundInTime) {
  const LoopLimit limit{200ms};
  Array in{32};
  Array out{32};
  std::fill(in.begin(), in.end(), 1U);
  EXPECT_EQ(loop_of([&] {
              launch({1, 32, 0}, forget_to_count, in.begin(), out.begin(), size_t{64});
            }),
            at_line(line_of_sum, "has repeated the same accesses for 0.2 s of computing"));
}

__global__ void forget_to_count_in_memory(const unsigned* in, unsigned* out, size_t n) {
  size_t i = threadIdx.x;
  while (i < n)
    out[threadIdx.x] += in[i];
}

TEST(EndlessLoop, WithASumInMemoryIsFoundInMoreTime) {
  const LoopLimit limit{100ms};
  Array in{32};
  Array out{32};
  std::fill(in.begin(), in.end(), 1U);
  const std::string loop = loop_of([&] {
    launch({1, 32, 0}, forget_to_count_in_memory, in.begin(), out.begin(), size_t{64});
  });
  EXPECT_NE(loop.find("has repeated the same accesses for 0.6 s of computing"), std::string::npos) << loop;
}

__global__ void compute_for_ever(unsigned* out, unsigned seed) {
  unsigned x = seed;
  while (x != 0)
    x = (x * 1664525 + 1013904223) | 1;
  out[0] = x;
}
__global__ void do_nothing_for_ever() {
  while (true) {
  }
}
__device__ unsigned compute_without_throwing(unsigned x) noexcept {
  while (x != 0)
    x = (x * 1664525 + 1013904223) | 1;
  return x;
}
__global__ void compute_for_ever_in_a_function(unsigned* out) { out[0] = compute_without_throwing(1); }
__global__ void walk_a_local_array(unsigned* out, unsigned start) {
  unsigned next[64];
  for (unsigned i = 0; i < 64; ++i)
    next[i] = (i + start) % 64;
  unsigned at = 1;
  while (at != 64)
    at = next[at];
  out[0] = at;
}
constexpr unsigned line_of_walk = __LINE__ - 3;

TEST(EndlessLoop, WithoutAnAccessIsFoundInTime) {
#ifdef __EMULATED_OWN_HOOKS
  GTEST_SKIP() << "ThreadSanitizer holds signals back until the next call of a library";
#endif
  const LoopLimit limit{300ms};
  Array out{1};
  const std::string computes = "has computed for 0.3 s without an access to memory";
  for (unsigned repetition = 0; repetition < 2; ++repetition) {
    EXPECT_NE(loop_of([&] {
                launch({3, 64, 0}, compute_for_ever, out.begin(), 1U);
              }).find(computes),
              std::string::npos);
    EXPECT_NE(loop_of([&] { launch({3, 64, 0}, do_nothing_for_ever); }).find(computes), std::string::npos);
    EXPECT_NE(loop_of([&] {
                launch({3, 64, 0}, compute_for_ever_in_a_function, out.begin());
              }).find(computes),
              std::string::npos);
    const std::string walk = loop_of([&] { launch({3, 64, 0}, walk_a_local_array, out.begin(), 7U); });
    EXPECT_TRUE(walk == at_line(line_of_walk, computes) || walk == at_line(line_of_walk - 1, computes))
        << walk;
    launch({1, 1, 0}, compute_for_ever, out.begin(), 0U);  // and the next launch is as if nothing had been
  }
}

__global__ void meet_for_ever() {
  while (true)
    __syncthreads();
}
__global__ void meet_in_warps_for_ever() {
  while (true)
    __syncwarp();
}

TEST(EndlessLoop, OfBarriersIsFound) {
  EXPECT_NE(loop_of([] {
              launch({1, 64, 0}, meet_for_ever);
            }).find("is still running after 2^"),
            std::string::npos);
  EXPECT_NE(loop_of([] {
              launch({1, 64, 0}, meet_in_warps_for_ever);
            }).find("is still running after 2^"),
            std::string::npos);
}

// ---- what is counted of a long loop ----

/// All lanes take the first line, and every other lane the second; half of them leave early.
__global__ void read_for_long(const unsigned* in, unsigned* out, unsigned times) {
  unsigned sum = 0;
  const unsigned own = threadIdx.x < 16 ? times / 2 : times;
  for (unsigned i = 0; i < own; ++i) {
    sum += in[i % 64];
    if ((i ^ threadIdx.x) % 2 == 0) sum += in[threadIdx.x];
  }
  out[threadIdx.x] = sum;
}

TEST(LongLoop, IsCountedAsAShortOne) {
  constexpr unsigned times = 200'000;
  Array in{64};
  Array out{64};
  launch({1, 64, 0}, read_for_long, in.begin(), out.begin(), times);
  const Counters counted = last_launch_counters();
  // In each pass of a warp all lanes take the first line together, and half of them the second.
  EXPECT_EQ(counted.global_load_requests, 2 * 2 * times);
  EXPECT_EQ(counted.global_load_lanes, (48 + 8) * (times + times / 2));
  EXPECT_EQ(counted.global_store_requests, 2U);
}

// ---- waits within a block ----

/// Each thread takes the lock in turn, whatever its warp.
__global__ void count_under_a_lock(int* lock, unsigned* count, bool across_a_barrier) {
  if (across_a_barrier && threadIdx.x == 0) atomicExch(lock, 1);
  __syncthreads();
  if (across_a_barrier && threadIdx.x == 0) {
    for (unsigned i = 0; i < 10'000; ++i)
      atomicAdd(count, 0U);
    atomicExch(lock, 0);
  }
  bool is_done = false;
  while (!is_done) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    __threadfence();
    atomicAdd(count, 1U);
    __threadfence();
    atomicExch(lock, 0);
    is_done = true;
  }
}

TEST(Wait, ForALockOfOneOrManyBlocksEnds) {
  DeviceArray<int> lock{1};
  Array count{1};
  for (const Order order : {Order::ascending, Order::descending, Order::random}) {
    set_schedule({order, 3});
    for (const bool across_a_barrier : {false, true}) {
      count[0] = 0;
      EXPECT_EQ(finding_of([&] {
                  launch({4, 96, 0}, count_under_a_lock, lock.begin(), count.begin(), across_a_barrier);
                }),
                "");
      EXPECT_EQ(count[0], 4U * 96);
    }
  }
  set_schedule({});
}

// ---- waits for higher blocks ----

__global__ void meet_as_a_grid(unsigned* arrived, unsigned* out) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1U);
    while (atomicAdd(arrived, 0U) < gridDim.x) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}
__global__ void wait_for_the_next_block(volatile unsigned* flags) {
  if (threadIdx.x == 0 && blockIdx.x + 1 < gridDim.x)
    while (flags[blockIdx.x + 1] == 0) {
    }
  flags[blockIdx.x] = 1;
}
__global__ void wait_and_count(unsigned* flag, unsigned* out) {
  unsigned times = 0;
  if (blockIdx.x == 0)
    while (atomicAdd(flag, 0U) == 0)
      ++times;
  atomicAdd(flag, 1U);
  out[blockIdx.x] = times;
}

TEST(Wait, ForAHigherBlockIsNamed) {
  const std::string waits =
      "waits for what a higher block may do, but this device runs blocks one after the other";
  const LoopLimit limit{200ms};
  for (unsigned host_threads : {1U, 3U}) {
    set_host_threads(host_threads);
    Array arrived{1};
    Array out{1 << 16};
    const std::string grid = loop_of([&] {
      launch({64, 1024, 0}, meet_as_a_grid, arrived.begin(), out.begin());
    });
    EXPECT_TRUE(grid.starts_with("wait for another block")) << grid;
    EXPECT_TRUE(grid.ends_with(waits)) << grid;
    arrived[0] = 0;
    EXPECT_EQ(finding_of([&] { launch({1, 64, 0}, meet_as_a_grid, arrived.begin(), out.begin()); }), "");
    arrived[0] = 0;
    const std::string counted = loop_of([&] {
      launch({64, 1, 0}, wait_and_count, arrived.begin(), out.begin());
    });
    EXPECT_TRUE(counted.ends_with(waits)) << counted;
  }
  set_host_threads(1);
  Array flags{4};
  const std::string flag = loop_of([&] {
    launch({4, 32, 0}, wait_for_the_next_block, static_cast<volatile unsigned*>(flags.begin()));
  });
  EXPECT_TRUE(flag.starts_with("wait for another block")) << flag;
  set_host_threads(0);
}

/// A lower block's answer comes late: that is no wait for a higher one.
__global__ void wait_for_the_block_before(unsigned* flags, unsigned times) {
  if (blockIdx.x > 0)
    while (atomicAdd(flags + blockIdx.x - 1, 0U) == 0) {
    }
  for (unsigned i = 0; i < times; ++i)
    atomicAdd(flags + gridDim.x, 1U);
  atomicExch(flags + blockIdx.x, 1U);
}

TEST(Wait, ForALowerBlockEnds) {
  Array flags{9};
  set_host_threads(4);
  EXPECT_EQ(finding_of([&] { launch({8, 1, 0}, wait_for_the_block_before, flags.begin(), 1'000'000U); }), "");
  set_host_threads(0);
}

}  // namespace
