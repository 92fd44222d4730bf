/// Kernels as a newcomer writes them: calls, branches, loops and barriers. What their lanes do together is counted by hand, as
/// a GPU's lanes come together again.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/kernel_sweep.hpp"

namespace {

using namespace __emulated;

template <typename T> using Array = DeviceArray<T>;

// ---- functions: each call is counted on its own ----

__device__ float load(const float* in, unsigned i) { return in[i]; }

__global__ void branch(const float* in, float* out) {
  unsigned i = threadIdx.x;
  if (i % 2 == 0) {
    out[i] = load(in, i);
  } else {
    out[i] = load(in, i + 32);
  }
}

__noinline__ __device__ float load_aside(const float* in, unsigned i) { return in[i]; }
__noinline__ __device__ float load_further_aside(const float* in, unsigned i) { return load_aside(in, i); }

/// The calls on the two sides load different elements: in[0] to in[31] are four sectors, and so are in[32] to in[63].
template <bool deeply> __global__ void branch_around_calls(const float* in, float* out) {
  const unsigned i = threadIdx.x;
  float value = 0;
  if (i % 2 == 0) {
    value = deeply ? load_further_aside(in, i) : load_aside(in, i);
  } else {
    value = deeply ? load_further_aside(in, i + 32) : load_aside(in, i + 32);
  }
  out[i] = value + load_aside(in, i);
}

/// So long that its accesses are counted while it runs.
__global__ void call_on_both_sides_for_long(const float* in, float* out, unsigned passes) {
  const unsigned i = threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < passes; ++k) {
    if (i % 2 == 0) {
      sum += load_aside(in, i);
    } else {
      sum += load_aside(in, i + 32);
    }
  }
  out[i] = sum;
}

/// Calls itself as often as `depth` says, which is not the same for all lanes.
__noinline__ __device__ float sum_down(const float* in, unsigned i, unsigned depth) {
  const float below = depth == 0 ? 0 : sum_down(in + 32, i, depth - 1);
  return below + in[i];
}

__global__ void recurse(const float* in, float* out) {
  out[threadIdx.x] = sum_down(in, threadIdx.x, threadIdx.x % 2);
}

TEST(Calls, AreCountedEachOnItsOwn) {
  Array<float> in{64}, out{32};
  std::fill(in.begin(), in.end(), 1.0F);
  const unsigned passes = 20000;
  sweep({{"on both sides of a branch", [&] { branch<<<1, 32>>>(in, out); }, {{loads, 2}, {load_lanes, 32}}},
         // Two half warps from four sectors each, then the whole warp.
         {"not inlined",
          [&] { branch_around_calls<false><<<1, 32>>>(in, out); },
          {{loads, 3}, {load_sectors, 12}, {load_lanes, 64}}},
         {"not inlined, one in another",
          [&] { branch_around_calls<true><<<1, 32>>>(in, out); },
          {{loads, 3}, {load_sectors, 12}, {load_lanes, 64}}},
         {"in a long loop",
          [&] { call_on_both_sides_for_long<<<1, 32>>>(in, out, passes); },
          {{loads, 2 * passes}, {load_sectors, 8 * passes}},
          Traces::too_long},
         // One of all lanes, and one of every second.
         {"in a recursion",
          [&] {
            recurse<<<1, 32>>>(in, out);
            EXPECT_EQ(out[30], 1.0F);
            EXPECT_EQ(out[31], 2.0F);
          },
          {{loads, 2}, {load_sectors, 8}}}});
}

// ---- which barrier it is ----

#define TWO_BARRIERS(condition) \
  if (condition) {              \
    __syncthreads();            \
  } else {                      \
    __syncthreads();            \
  }

__device__ void meet() { __syncthreads(); }
__noinline__ __device__ void meet_aside() { __syncthreads(); }

enum class Meeting { macro, kinds, inlined, aside, together };

template <Meeting meeting> __global__ void meet_in_branches(unsigned where) {
  const bool here = threadIdx.x < where;
  switch (meeting) {
    case Meeting::macro: TWO_BARRIERS(here) break;
    case Meeting::kinds: here ? static_cast<void>(__syncthreads_or(1)) : __syncthreads(); break;
    case Meeting::inlined:
      if (here) {
        meet();
      } else {
        meet();
      }
      break;
    case Meeting::aside:
      if (here) {
        meet_aside();
      } else {
        meet_aside();
      }
      break;
    case Meeting::together: meet_aside(); break;
  }
}

template <Meeting meeting> void expect_two_barriers() {
  expect_findings(
      {{"divergent barrier in meet_in_branches: block 0, threads 0-39 wait at __syncthreads() at ",
        [] { meet_in_branches<meeting><<<1, 64>>>(40); },
        "; block 0, threads 40-63 wait at __syncthreads() at "}});
  for (const unsigned all : {0U, 64U})
    meet_in_branches<meeting><<<1, 64>>>(all);
}

TEST(Barriers, OnOneLineAreToldApart) {
  expect_two_barriers<Meeting::macro>();
  expect_two_barriers<Meeting::kinds>();
}

TEST(Barriers, OfTwoCallsAreToldApart) {
  expect_two_barriers<Meeting::inlined>();
  expect_two_barriers<Meeting::aside>();
  meet_in_branches<Meeting::together><<<1, 64>>>(40);
  try {
    meet_in_branches<Meeting::inlined><<<1, 64>>>(40);
  } catch (const __emulated::KernelFinding& finding) {
    ASSERT_EQ(finding.findings().front().witnesses.size(), 2U);
    const auto& one = finding.findings().front().witnesses[0];
    const auto& other = finding.findings().front().witnesses[1];
    EXPECT_EQ(one.location.line, other.location.line);
#ifndef __clang__  // which does not inline the function
    ASSERT_EQ(one.callers.size(), 1U);
    ASSERT_EQ(other.callers.size(), 1U);
    EXPECT_EQ(one.callers.front().line + 2, other.callers.front().line);
#endif
    const std::string& help = finding.findings().front().help;
    EXPECT_TRUE(help.ends_with("; each call is a barrier of its own, even of one function")) << help;
  }
}

/// Threads come to each barrier on different ways: the compiler must not make two of one.
__global__ void meet_after_branches(const int* in, int* out, int n) {
  __shared__ int sum;
  const int i = static_cast<int>(threadIdx.x);
  bool first = i == 0;
  if (first) sum = 0;
  __syncthreads();
  if (first) atomicAdd(&sum, in[0]);
  for (int k = 0;; ++k) {
    if (k == i % 3) {
      atomicAdd(&sum, in[i]);
      if (in[i] > 100) continue;
      first = false;
    }
    __syncthreads();
    if (first && k > n) return;
    if (k == n) break;
  }
  int rounds = n;
  do {
    if (in[i] % 2 == 0) {
      atomicAdd(&sum, 1);
    } else if (in[i] % 3 == 0) {
      first = true;
    }
    __syncthreads();
    if (first) atomicAdd(&sum, 1);
  } while (__syncthreads_or(rounds-- > 0));
  while (__syncthreads_or(i % 7 < rounds + 4)) {
    if (i % 2 == 0) ++rounds;
    if (i % 2 == 0) --rounds;
    --rounds;
  }
  switch (i % 4) {
    case 0: atomicAdd(&sum, 1); [[fallthrough]];
    case 1: first = !first; break;
    case 2: break;
    default: atomicAdd(&sum, 2);
  }
  __syncthreads();
  if (first) out[i] = 1;
  __syncthreads();
  out[i] = sum;
}

TEST(Barriers, AreMetWhicheverWayThreadsCome) {
  Array<int> in{64};
  Array<int> out{64};
  for (int i = 0; i < 64; ++i)
    in[i] = i;
  for (int n = 3; n < 6; ++n)
    meet_after_branches<<<1, 64>>>(in, out, n);
}

// ---- statements, and conditions in loops without barriers ----

/// Even lanes go one way and odd lanes the other, then all store.
__global__ void diverge(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[32];
  const unsigned tid = threadIdx.x;
  if (tid % 2 == 0) {
    tile[tid] = in[tid];
  } else {
    tile[tid] = in[tid + 32];
  }
  out[tid] = tile[tid];
}

/// Each statement is there twice, and no compiler may make one of the two.
__global__ void say_it_twice(const float* in, float* out, float* other) {
  const unsigned i = threadIdx.x;
  if (i % 2 == 0) {
    out[i] = 1;
  } else {
    out[i] = 1;
  }
  if (i % 4 == 0) {
    out[i] = in[i];
  } else {
    out[i] = in[i] + 1;
  }
  out[i] = i % 8 == 0 ? in[i] : in[i + 32];
  if (i < 16) {
    other[i] = in[i];
    return;
  }
  other[i] = in[i];
}

/// Eight passes. In each, all lanes load, and every second one stores: the even ones, then the odd ones.
__global__ void store_in_turns(const float* in, float* out) {
  const unsigned lane = threadIdx.x;
  for (unsigned i = 0; i < 8; ++i) {
    const float value = in[i * 32 + lane];
    if ((i + lane) % 2 == 0) out[i * 32 + lane] = value;
  }
}

/// The same with a condition in front of what all lanes do, and one behind it.
__global__ void store_around(float* out) {
  const unsigned lane = threadIdx.x;
  for (unsigned i = 0; i < 6; ++i) {
    if ((i + lane) % 2 == 0) out[i * 32 + lane] = 1;
    out[192 + i * 32 + lane] = 2;
    if ((i + lane) % 3 == 0) out[384 + i * 32 + lane] = 3;
  }
}

/// Each lane stores in a pass of its own, then all do.
__global__ void store_once_each(const float* in, float* out) {
  const unsigned lane = threadIdx.x;
  float sum = 0;
  for (unsigned i = 0; i < 32; ++i) {
    sum += in[i];
    if (i == lane) out[lane] = sum;
  }
  out[32 + lane] = sum;
}

/// The last passes are for a part of the lanes, in two places.
__global__ void guard_the_second_load(const float* in, float* out, unsigned n) {
  float sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += 32) {
    sum += in[i];
    if (i + 16 < n) sum += in[i + 16];
  }
  out[threadIdx.x] = sum;
}

/// So long that it is counted while it runs, and that some lanes have left it before others are near its end.
__global__ void load_more_in_higher_lanes(const float* in, float* out, unsigned passes) {
  const unsigned lane = threadIdx.x;
  float sum = 0;
  for (unsigned i = 0; i < passes; ++i) {
    sum += in[lane];
    sum += in[32 + lane];
    if (i % 32 < lane) sum += in[64 + lane];
  }
  out[lane] = sum;
}

/// A row is as long as its length says: lanes leave the inner loop one after the other, and meet behind it.
__global__ void sum_rows(const int* lengths, const float* in, float* out) {
  for (unsigned row = threadIdx.x; row < 96; row += 32) {
    const int length = lengths[row];
    float sum = 0;
    for (int k = 0; k < length; ++k)
      sum += in[static_cast<unsigned>(k) * 96 + row];
    out[row] = sum;
  }
}

/// The same, and every second element of a row is stored.
__global__ void store_from_rows(const int* lengths, const float* in, float* out) {
  for (unsigned row = threadIdx.x; row < 96; row += 32) {
    float sum = 0;
    for (int k = 0; k < lengths[row]; ++k) {
      sum += in[static_cast<unsigned>(k) * 96 + row];
      if ((static_cast<unsigned>(k) + row) % 2 == 0) out[96 + static_cast<unsigned>(k) * 96 + row] = sum;
    }
    out[row] = sum;
  }
}

__noinline__ __device__ void store_aside(float* out, float value) { *out = value; }

/// Some lanes do one loop, the others another, then all meet.
__global__ void loop_in_branches(const float* in, float* out) {
  const unsigned lane = threadIdx.x;
  float sum = 0;
  if (lane < 16) {
    for (unsigned i = 0; i < 4 + lane % 2; ++i) {
      sum += in[i * 32 + lane];
      if ((i + lane) % 2 == 0) store_aside(&out[i * 32 + lane], sum);
    }
  } else {
    for (unsigned i = 0; i < 1 + lane % 4; ++i)
      sum += in[i * 32 + lane];
  }
  store_aside(&out[160 + lane], sum);
}

TEST(Branches, AreCountedAsLanesComeTogetherAgain) {
  Array<float> in{4 * 96}, out{576}, other{32};
  Array<unsigned> naturals{96};
  Array<int> lengths{96};
  // Of the rows 0 to 31 the longest has 3 elements, then 2, then 4. Each lane has others in each pass.
  for (int row = 0; row < 96; ++row)
    lengths[row] = row < 32 ? row % 4 : row < 64 ? (row + 1) % 3 : (row + 2) % 5;
  sweep(
      {{"the two sides of a branch",
        [&] { diverge<<<1, 32>>>(naturals, naturals + 64); },
        {{shared_store_lanes, 32}, {shared_loads, 1}, {stores, 1}, {store_sectors, 4}}},
       {"statements that are alike",
        [&] { say_it_twice<<<1, 32>>>(in, out, other); },
        {{loads, 6},
         {load_sectors, 4 + 4 + 4 + 4 + 2 + 2},
         {stores, 2 + 2 + 1 + 2},
         {store_sectors, 4 * 5 + 2 + 2}}},
       {"a condition in a loop",
        [&] { store_in_turns<<<1, 32>>>(in, out); },
        {{loads, 8}, {stores, 8}, {store_sectors, 8 * 4}, {store_lanes, 8 * 16}}},
       // Lanes of the same pass are in the same sectors.
       {"conditions around what all lanes do",
        [&] { store_around<<<1, 32>>>(out); },
        {{stores, 3 * 6}, {store_sectors, 3 * 6 * 4}}},
       {"a pass for each lane",
        [&] { store_once_each<<<1, 32>>>(in, out); },
        {{loads, 32}, {stores, 32 + 1}, {store_sectors, 32 + 4}}},
       // 100 elements, and 84.
       {"last passes for a part of the lanes",
        [&] { guard_the_second_load<<<1, 32>>>(in, out, 100); },
        {{loads, 4 + 3}, {load_sectors, 3 * 4 + 1 + 2 * 4 + 3}, {stores, 1}}},
       // Of 8 neighbouring lanes each has at least one row of each length, but for the longest of the last 32.
       {"an inner loop of a row's length",
        [&] { sum_rows<<<1, 32>>>(lengths, in, out); },
        {{loads, 3 + 3 + 2 + 4},
         {load_sectors, 3 * 4 + (3 + 2 + 4) * 4},
         {stores, 3},
         {store_sectors, 3 * 4}}},
       // A length is loaded once more than there are elements. Of the rows 0 to 31 those with 3 elements are odd, so that
       // none stores its last.
       {"an inner loop with a condition",
        [&] { store_from_rows<<<1, 32>>>(lengths, in, out); },
        {{loads, (3 + 2 + 4) + (4 + 3 + 5)}, {stores, (2 + 2 + 4) + 3}}},
       // In the pass that only odd lanes have, none of them stores.
       {"loops in branches",
        [&] { loop_in_branches<<<1, 32>>>(in, out); },
        {{loads, 5 + 4}, {load_sectors, 5 * 2 + 4 * 2}, {stores, 4 + 1}, {store_sectors, 4 * 2 + 4}}}});
  for (const unsigned passes : {3200U, 6400U, 19200U}) {
    sweep({{"a condition in a long loop",
            [&] { load_more_in_higher_lanes<<<1, 32>>>(in, out, passes); },
            {{loads, 3 * passes - passes / 32}, {stores, 1}},
            Traces::too_long}});
  }
}

}  // namespace
