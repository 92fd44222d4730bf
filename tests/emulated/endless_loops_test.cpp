/// What is an endless loop, or a wait that this device cannot run, and, as important, what is none.
#include <gtest/gtest.h>

#include <chrono>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"
#include "emulated/launches.hpp"

namespace {

using namespace __emulated;
using namespace std::chrono_literals;
using Words = DeviceArray<unsigned>;

/// A shorter one, while one lives.
class LoopLimit {
 public:
  explicit LoopLimit(std::chrono::nanoseconds limit) { set_loop_limit(limit); }
  LoopLimit(const LoopLimit&) = delete;
  LoopLimit& operator=(const LoopLimit&) = delete;
  ~LoopLimit() { set_loop_limit(10s); }
};

// ---- loops that end ----

__global__ void meet_often(unsigned times) {
  for (unsigned i = 0; i < times; ++i)
    __syncthreads();
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

__global__ void read_one_word(const unsigned* in, unsigned* out, unsigned times) {
  unsigned sum = 0;
  for (unsigned i = 0; i < times; ++i)
    sum += in[0];
  out[threadIdx.x] = sum;
}

__global__ void add_to_one_word(unsigned* out, unsigned times) {
  if (threadIdx.x == 0)
    while (++out[0] < times) {
    }
  if (threadIdx.x == 1)
    while (atomicAdd(out + 1, 1U) < times) {
    }
}

TEST(LongLoop, Ends) {
  const Words out{2};
  const Counters barriers = counters_of([] { meet_often<<<1, 64>>>(1'000'000); });
  EXPECT_EQ(barriers.block_barriers, 1'000'000U);
  expect_finding([] { count_in_shared_memory<<<1, 33>>>(300'000); }, Runs::once);
  expect_finding([&] { read_one_word<<<1, 2>>>(Words{1, 3}, out, 4'000'000); }, Runs::once);
  EXPECT_EQ(out[1], 12'000'000U);
  const LoopLimit limit{20s};
  expect_finding([] { add_to_one_word<<<1, 2>>>(Words{2}, 3'000'000); }, Runs::once);
}

__global__ void count_in_shuffles(unsigned times) {
  for (unsigned count = 0; count < times;)
    count = __shfl_xor_sync(~0U, count, 1) + 1;
}

__global__ void count_by_atomics(unsigned* out, unsigned times) {
  while (atomicAdd(out, 1U) < times) {
  }
}

TEST(LongLoop, ThatFindsOtherValuesHasNoLimit) {
  const LoopLimit limit{50ms};
  expect_finding([] { count_in_shared_memory<<<1, 33>>>(100'000); }, Runs::once);
  expect_finding([] { count_in_shuffles<<<1, 32>>>(200'000); }, Runs::once);
  expect_finding([] { count_by_atomics<<<1, 1>>>(Words{1}, 10'000'000); }, Runs::once);
}

// ---- loops that do not ----

__global__ void spin_on_input(const unsigned* in) {
  while (in[0] == 0) {  // one
  }
}

__global__ void walk_in_a_circle(const unsigned* in) {
  for (unsigned i = 0; in[i] == 0; i = (i + 1) % 7) {  // one
  }
}

TEST(EndlessLoop, OfReadsIsFoundAtOnce) {
  const LoopLimit limit{1h};
  // endless loop in walk_in_a_circle: block 0, thread 0 repeats itself: its variables, and what it reads, stay the
  // same at one
  expect_finding([] { walk_in_a_circle<<<1, 32>>>(Words{7}); }, Runs::once);
  // endless loop in spin_on_input: block 0, thread ... repeats itself: its variables, and what it reads, stay
  // the same at one; help: look at the condition of the loop around this line, and at what each pass changes
  // of it; see endless_loop
  expect_finding([] { spin_on_input<<<2, 64>>>(Words{1}); }, Runs::once);
}

/// The index is not counted up, so that a register alone changes.
__global__ void forget_to_count(const unsigned* in, unsigned* out, size_t n) {
  unsigned sum = 0;
  size_t i = threadIdx.x;
  while (i < n)
    sum += in[i];  // one
  out[threadIdx.x] = sum;
}

TEST(EndlessLoop, WithASumInARegisterIsFoundInTime) {
  const LoopLimit limit{200ms};
  // endless loop in forget_to_count: block 0, thread 0 has repeated the same accesses for 0.2 s of computing at one
  expect_finding([] { forget_to_count<<<1, 32>>>(Words{32, 1}, Words{32}, 64); }, Runs::once);
}

__global__ void compute_for_ever(unsigned* out, unsigned seed) {
  unsigned x = seed;
  while (x != 0)
    x = (x * 1664525 + 1013904223) | 1;
  out[0] = x;
}
__global__ void walk_a_local_array(unsigned* out, unsigned start) {
  unsigned next[64];
  for (unsigned i = 0; i < 64; ++i)
    next[i] = (i + start) % 64;
  unsigned at = 1;
  while (at != 64)  // one
    at = next[at];  // one
  out[0] = at;
}

TEST(EndlessLoop, WithoutAnAccessIsFoundInTime) {
#ifdef __EMULATED_OWN_HOOKS
  GTEST_SKIP() << "ThreadSanitizer holds signals back until the next call of a library";
#endif
  const LoopLimit limit{300ms};
  for (unsigned repetition = 0; repetition < 2; ++repetition) {
    // endless loop in compute_for_ever: block 0, thread 0 has computed for 0.3 s without an access to memory
    expect_finding([] { compute_for_ever<<<3, 64>>>(Words{1}, 1); }, Runs::once);
    // endless loop in walk_a_local_array: block 0, thread 0 has computed for 0.3 s without an access to memory at one
    expect_finding([] { walk_a_local_array<<<3, 64>>>(Words{1}, 7); }, Runs::once);
    // no finding
    expect_finding([] { compute_for_ever<<<1, 1>>>(Words{1}, 0); }, Runs::once);
  }
}

__global__ void meet_in_warps_for_ever() {
  while (true)
    __syncwarp();
}

__global__ void compute_between_stores(unsigned* out) {
  unsigned x = 1;
  for (unsigned i = 0; i < 12; ++i) {
    for (unsigned k = 0; k < 100'000'000; ++k)
      x = x * 1664525 + 1013904223;
    out[0] = x;
  }
}

TEST(LongLoop, WithAnAccessInTimeEnds) {
  const LoopLimit limit{500ms};
  expect_finding([] { compute_between_stores<<<1, 1>>>(Words{1}); }, Runs::once);
}

TEST(EndlessLoop, OfBarriersIsFound) {
  // endless loop in meet_in_warps_for_ever: block 0, thread 0 repeats itself: its variables, and what it
  // reads, stay the same at line ...
  expect_finding([] { meet_in_warps_for_ever<<<1, 64>>>(); }, Runs::once);
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
  const Counters counted = counters_of([] { read_for_long<<<1, 64>>>(Words{64}, Words{64}, times); });
  // In each pass of a warp all lanes take the first line together, and half of them the second.
  EXPECT_EQ(counted.global_load_requests, 2 * 2 * times);
  EXPECT_EQ(counted.global_load_lanes, (48 + 8) * (times + times / 2));
  EXPECT_EQ(counted.global_store_requests, 2U);
}

// ---- waits ----

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
  expect_finding(
      [] {
        set_host_threads(4);
        wait_for_the_block_before<<<8, 1>>>(Words{9}, 1'000'000);
      },
      Runs::once);
}

__global__ void wait_for_the_next_block(unsigned* flags) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x + 1 < gridDim.x)
    while (atomicAdd(&flags[blockIdx.x + 1], 0U) == 0) {  // one
    }
  atomicExch(&flags[blockIdx.x], blockIdx.x + 1 < gridDim.x ? 1U : 0U);  // the last one forgets
}
__global__ void wait_and_count(unsigned* flag, unsigned* out) {
  unsigned times = 0;
  while (atomicAdd(flag, 0U) == 0)  // one
    ++times;
  out[blockIdx.x] = times;
}
/// Each waits until all have begun, and only so many begin at once.
__global__ void meet_as_a_grid(unsigned* arrived) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1U);
    while (atomicAdd(arrived, 0U) < gridDim.x) {  // one
    }
  }
  __syncthreads();
}
__global__ void hold_a_lock_while_the_warp_meets(unsigned* lock) {
  while (atomicCAS(lock, 0U, 1U) != 0) {  // one
  }
  __syncwarp();  // two
  atomicExch(lock, 0U);
}

TEST(Wait, ThatNothingEndsIsFound) {
  const LoopLimit limit{200ms};
  // deadlock in hold_a_lock_while_the_warp_meets: block 0, thread 1 waits for what no other thread does at one; block 0,
  // thread 0 waits at __syncwarp() at two; help: if it is a lock, open it before the warp meets: ...
  for (const unsigned blocks : {1U, 2U})
    expect_finding([=] { hold_a_lock_while_the_warp_meets<<<blocks, 32>>>(Words{1}); }, Runs::once);
  // wait for another block in wait_for_the_next_block: block 0, thread 0 waits for what no other block does at one;
  // help: all blocks that have not ended wait: ...
  expect_finding([=] { wait_for_the_next_block<<<7, 32>>>(Words{7}); });
  // wait for another block in wait_and_count: block 0, thread 0 waits for what no other block does at one
  expect_finding([=] { wait_and_count<<<3, 1>>>(Words{1}, Words{3}); }, Runs::once);
  // endless loop in wait_and_count: block 0, thread 0 has repeated the same accesses for 0.2 s of computing at one
  expect_finding([=] { wait_and_count<<<1, 1>>>(Words{1}, Words{1}); }, Runs::once);
  // wait for another block in meet_as_a_grid: block 0, thread 0 waits for what no other block does at one; help:
  // this GPU holds 264 blocks of this kernel at once, and the grid has 265: no block may wait for one that begins
  // only when others have ended. Launch no more than 264, and let each do the work of several
  expect_finding([] { meet_as_a_grid<<<265, 1024>>>(Words{1}); }, Runs::once);
}

}  // namespace
