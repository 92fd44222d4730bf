/// Kernels as a newcomer writes them, without a word of this repository in them, are counted and checked, too.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"

namespace {

using __emulated::finding_of;
using __emulated::last_launch_counters;
using __emulated::set_host_threads;

template <typename T> using Array = __emulated::DeviceArray<T>;

// ---- a race ----

__global__ void reverse(const float* in, float* out) {
  __shared__ float tile[64];
  int i = threadIdx.x;
  tile[i] = in[i];
  out[i] = tile[63 - i];  // no barrier in between
}

__global__ void reverse_behind_a_barrier(const float* in, float* out) {
  __shared__ float tile[64];
  int i = threadIdx.x;
  tile[i] = in[i];
  __syncthreads();
  out[i] = tile[63 - i];
}

TEST(PlainKernels, OverFloatsRaceWhereABarrierIsMissing) {
  Array<float> in{64};
  Array<float> out{64};
  for (int i = 0; i < 64; ++i)
    in[i] = static_cast<float>(i);
  const std::string text = finding_of([&] { reverse<<<1, 64>>>(in, out); });
  EXPECT_TRUE(text.starts_with("race in reverse: block 0, thread ")) << text;
  EXPECT_NE(text.find(" of a shared variable at emulated/plain_kernels_test.cpp:"), std::string::npos)
      << text;
  EXPECT_EQ(finding_of([&] { reverse_behind_a_barrier<<<1, 64>>>(in, out); }), "");
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], static_cast<float>(63 - i));
  EXPECT_EQ(last_launch_counters().shared_load_requests, 2U);
  EXPECT_EQ(last_launch_counters().global_load_sectors, 8U);
}

// ---- bank conflicts ----

template <int width> __global__ void transpose(const float* in, float* out) {
  __shared__ float tile[32][width];
  tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

TEST(PlainKernels, OfTwoDimensionsHaveBankConflicts) {
  Array<float> in{1024};
  Array<float> out{1024};
  for (int i = 0; i < 1024; ++i)
    in[i] = static_cast<float>(i);
  const auto expect_transposed = [&] {
    for (int i = 0; i < 1024; ++i)
      ASSERT_EQ(out[i], static_cast<float>(i % 32 * 32 + i / 32));
  };
  transpose<32><<<1, dim3(32, 32)>>>(in, out);
  expect_transposed();
  EXPECT_EQ(last_launch_counters().shared_load_requests, 32U);
  EXPECT_EQ(last_launch_counters().shared_load_conflicts, 32U * 31);
  EXPECT_EQ(last_launch_counters().shared_store_conflicts, 0U);
  transpose<33><<<1, dim3(32, 32)>>>(in, out);
  expect_transposed();
  EXPECT_EQ(last_launch_counters().shared_load_conflicts, 0U);
}

// ---- a struct of two floats ----

struct Point {
  float x, y;
};

struct __align__(8) AlignedPoint {
  float x, y;
};

template <typename P> __global__ void shift(P* points, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  P point = points[i];
  point.x += by;
  point.y -= by;
  points[i] = point;
}

TEST(PlainKernels, OverStructsAreCountedAsTheirAlignmentAllows) {
  Array<Point> points{64};
  shift<Point><<<2, 32>>>(points, 2.0F);
  EXPECT_EQ(points[63].x, 2.0F);
  EXPECT_EQ(points[63].y, -2.0F);
  // A GPU loads each float by itself where 8 bytes at once might not be aligned.
  EXPECT_EQ(last_launch_counters().global_load_requests, 4U);
  EXPECT_EQ(last_launch_counters().global_load_sectors, 32U);
  EXPECT_EQ(last_launch_counters().global_store_requests, 4U);
  const std::string text = finding_of([&] { shift<Point><<<3, 32>>>(points, 2.0F); });
  EXPECT_TRUE(
      text.starts_with("out of bounds in shift: block 2, thread 0 reads 4-byte word 128 of a global "
                       "buffer (128 words) at emulated/plain_kernels_test.cpp:"))
      << text;

  Array<AlignedPoint> aligned{64};
  shift<AlignedPoint><<<2, 32>>>(aligned, 2.0F);
  EXPECT_EQ(aligned[63].y, -2.0F);
#ifndef __clang__  // which copies a struct without a word of its alignment
  EXPECT_EQ(last_launch_counters().global_load_requests, 2U);
  EXPECT_EQ(last_launch_counters().global_load_sectors, 16U);
#endif
}

Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y}; }
__device__ float length_of(Point point) { return point.x + point.y; }

template <bool barrier> __global__ void sum_points(const Point* in, Point* out, float* length) {
  __shared__ Point tile[64];
  unsigned i = threadIdx.x;
  tile[i] = in[i];
  __syncthreads();
  for (unsigned stride = 32; stride > 0; stride /= 2) {
    if (i < stride) tile[i] = tile[i] + tile[i + stride];
    if (barrier) __syncthreads();
  }
  if (i == 0) out[0] = tile[0];
  if (i == 0) length[0] = length_of(tile[0]);
}

TEST(PlainKernels, PassStructsToFunctionsAndBack) {
  Array<Point> in{64};
  Array<Point> out{1};
  Array<float> length{1};
  std::fill_n(static_cast<Point*>(in), 64, Point{1, 2});
  EXPECT_EQ(finding_of([&] { sum_points<true><<<1, 64>>>(in, out, length); }), "");
  EXPECT_EQ(out[0].x, 64.0F);
  EXPECT_EQ(length[0], 192.0F);
  // In words: two to copy, four to load and two to store in each of six levels, and two for each of the results.
  EXPECT_EQ(last_launch_counters().shared_store_lanes, 2U * 64 + 2 * 63);
  EXPECT_EQ(last_launch_counters().shared_load_lanes, 4U * 63 + 2 + 2);
  const std::string text = finding_of([&] { sum_points<false><<<1, 64>>>(in, out, length); });
  EXPECT_TRUE(text.starts_with("race in sum_points: block 0, thread ")) << text;
}

__device__ float load(const float* in, unsigned i) { return in[i]; }

__global__ void branch(const float* in, float* out) {
  unsigned i = threadIdx.x;
  if (i % 2 == 0) {
    out[i] = load(in, i);
  } else {
    out[i] = load(in, i + 32);
  }
}

TEST(PlainKernels, CountEachCallOfAFunctionOnItsOwn) {
  Array<float> in{64};
  Array<float> out{32};
  branch<<<1, 32>>>(in, out);
  EXPECT_EQ(last_launch_counters().global_load_requests, 2U);
  EXPECT_EQ(last_launch_counters().global_load_lanes, 32U);
}

// ---- functions that are not inlined ----

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

TEST(PlainKernels, CountEachCallOfAFunctionThatIsNotInlinedOnItsOwn) {
  Array<float> in{64};
  Array<float> out{32};
  const auto expect_counts = [](unsigned last) {
    // Two half warps from four sectors each, then the whole warp.
    EXPECT_EQ(last_launch_counters().global_load_requests, 3U) << last;
    EXPECT_EQ(last_launch_counters().global_load_sectors, 12U) << last;
    EXPECT_EQ(last_launch_counters().global_load_lanes, 64U) << last;
  };
  branch_around_calls<false><<<1, 32>>>(in, out);
  expect_counts(0);
  branch_around_calls<true><<<1, 32>>>(in, out);
  expect_counts(1);
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

TEST(PlainKernels, CountEachCallOfAFunctionInALongLoopOnItsOwn) {
  Array<float> in{64};
  Array<float> out{32};
  const unsigned passes = 20000;
  call_on_both_sides_for_long<<<1, 32>>>(in, out, passes);
  EXPECT_EQ(last_launch_counters().global_load_requests, 2U * passes);
  EXPECT_EQ(last_launch_counters().global_load_sectors, 8U * passes);
}

/// Calls itself as often as `depth` says, which is not the same for all lanes.
__noinline__ __device__ float sum_down(const float* in, unsigned i, unsigned depth) {
  const float below = depth == 0 ? 0 : sum_down(in + 32, i, depth - 1);
  return below + in[i];
}

__global__ void recurse(const float* in, float* out) {
  out[threadIdx.x] = sum_down(in, threadIdx.x, threadIdx.x % 2);
}

TEST(PlainKernels, CountEachDepthOfARecursionOnItsOwn) {
  Array<float> in{64};
  Array<float> out{32};
  std::fill_n(static_cast<float*>(in), 64, 1.0F);
  EXPECT_EQ(finding_of([&] { recurse<<<1, 32>>>(in, out); }), "");
  EXPECT_EQ(out[30], 1.0F);
  EXPECT_EQ(out[31], 2.0F);
  EXPECT_EQ(last_launch_counters().global_load_requests, 2U) << "one of all lanes, and one of every second";
  EXPECT_EQ(last_launch_counters().global_load_sectors, 8U);
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
  const std::string text = finding_of([] { meet_in_branches<meeting><<<1, 64>>>(40); });
  EXPECT_TRUE(text.starts_with(
      "divergent barrier in meet_in_branches: block 0, threads 0-39 wait at __syncthreads() at "))
      << text;
  EXPECT_NE(text.find("; block 0, threads 40-63 wait at __syncthreads() at "), std::string::npos) << text;
  for (const unsigned all : {0U, 64U})
    EXPECT_EQ(finding_of([&] { meet_in_branches<meeting><<<1, 64>>>(all); }), "");
}

TEST(PlainKernels, TellBarriersApartThatAreOnOneLine) {
  expect_two_barriers<Meeting::macro>();
  expect_two_barriers<Meeting::kinds>();
}

TEST(PlainKernels, TellBarriersOfTwoCallsApart) {
  expect_two_barriers<Meeting::inlined>();
  expect_two_barriers<Meeting::aside>();
  EXPECT_EQ(finding_of([] { meet_in_branches<Meeting::together><<<1, 64>>>(40); }), "");
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

TEST(PlainKernels, MeetAtOneBarrierWhicheverWayTheyCome) {
  Array<int> in{64};
  Array<int> out{64};
  for (int i = 0; i < 64; ++i)
    in[i] = i;
  for (int n = 3; n < 6; ++n)
    EXPECT_EQ(finding_of([&] { meet_after_branches<<<1, 64>>>(in, out, n); }), "");
}

// ---- statements that are alike ----

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

TEST(PlainKernels, CountStatementsThatAreAlikeOnTheirOwn) {
  Array<float> in{64};
  Array<float> out{32};
  Array<float> other{32};
  EXPECT_EQ(finding_of([&] { say_it_twice<<<1, 32>>>(in, out, other); }), "");
  EXPECT_EQ(last_launch_counters().global_load_requests, 6U);
  EXPECT_EQ(last_launch_counters().global_load_sectors, 4U + 4 + 4 + 4 + 2 + 2);
  EXPECT_EQ(last_launch_counters().global_store_requests, 2U + 2 + 1 + 2);
  EXPECT_EQ(last_launch_counters().global_store_sectors, 4U * 5 + 2 + 2);
}

// ---- conditions in loops without barriers: counted by hand as a GPU's lanes come together again ----

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

TEST(PlainKernels, CountAConditionInALoopPassByPass) {
  Array<float> in{256};
  Array<float> out{576};
  const auto& counted = last_launch_counters;
  store_in_turns<<<1, 32>>>(in, out);
  EXPECT_EQ(counted().global_load_requests, 8U);
  EXPECT_EQ(counted().global_store_requests, 8U);
  EXPECT_EQ(counted().global_store_sectors, 8U * 4);
  EXPECT_EQ(counted().global_store_lanes, 8U * 16);

  store_around<<<1, 32>>>(out);
  EXPECT_EQ(counted().global_store_requests, 3U * 6);
  EXPECT_EQ(counted().global_store_sectors, 3U * 6 * 4) << "lanes of the same pass are in the same sectors";

  store_once_each<<<1, 32>>>(in, out);
  EXPECT_EQ(counted().global_load_requests, 32U);
  EXPECT_EQ(counted().global_store_requests, 32U + 1);
  EXPECT_EQ(counted().global_store_sectors, 32U + 4);

  guard_the_second_load<<<1, 32>>>(in, out, 100);
  EXPECT_EQ(counted().global_load_requests, 4U + 3) << "100 elements, and 84";
  EXPECT_EQ(counted().global_load_sectors, 3U * 4 + 1 + 2 * 4 + 3);
  EXPECT_EQ(counted().global_store_requests, 1U);
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

TEST(PlainKernels, CountAConditionInALongLoopPassByPass) {
  Array<float> in{96};
  Array<float> out{32};
  for (const unsigned passes : {3200U, 6400U, 19200U}) {
    load_more_in_higher_lanes<<<1, 32>>>(in, out, passes);
    EXPECT_EQ(last_launch_counters().global_load_requests, 3 * passes - passes / 32) << passes;
    EXPECT_EQ(last_launch_counters().global_store_requests, 1U);
  }
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

TEST(PlainKernels, CountAnInnerLoopThatIsNotEquallyLongForAllLanes) {
  Array<int> lengths{96};
  Array<float> in{4 * 96};
  Array<float> out{5 * 96};
  // Of the rows 0 to 31 the longest has 3 elements, then 2, then 4. Each lane has others in each pass.
  for (int row = 0; row < 96; ++row)
    lengths[row] = row < 32 ? row % 4 : row < 64 ? (row + 1) % 3 : (row + 2) % 5;
  sum_rows<<<1, 32>>>(lengths, in, out);
  EXPECT_EQ(last_launch_counters().global_load_requests, 3U + 3 + 2 + 4);
  // Of 8 neighbouring lanes each has at least one row of each length, but for the longest of the last 32.
  EXPECT_EQ(last_launch_counters().global_load_sectors, 3U * 4 + (3 + 2 + 4) * 4);
  EXPECT_EQ(last_launch_counters().global_store_requests, 3U);
  EXPECT_EQ(last_launch_counters().global_store_sectors, 3U * 4);

  store_from_rows<<<1, 32>>>(lengths, in, out);
  // A length is loaded once more than there are elements.
  EXPECT_EQ(last_launch_counters().global_load_requests, (3U + 2 + 4) + (4 + 3 + 5));
  // Of the rows 0 to 31 those with 3 elements are odd, so that none stores its last.
  EXPECT_EQ(last_launch_counters().global_store_requests, (2U + 2 + 4) + 3);
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

TEST(PlainKernels, CountLoopsInBranchesOnTheirOwn) {
  Array<float> in{160};
  Array<float> out{192};
  EXPECT_EQ(finding_of([&] { loop_in_branches<<<1, 32>>>(in, out); }), "");
  EXPECT_EQ(last_launch_counters().global_load_requests, 5U + 4);
  EXPECT_EQ(last_launch_counters().global_load_sectors, 5U * 2 + 4 * 2);
  // In the pass that only odd lanes have, none of them stores.
  EXPECT_EQ(last_launch_counters().global_store_requests, 4U + 1);
  EXPECT_EQ(last_launch_counters().global_store_sectors, 4U * 2 + 4);
}

__global__ void take_last(int* last, volatile int* out) {
  __shared__ int winner;
  if (threadIdx.x == 5) winner = 7;
  __syncthreads();
  if (last == nullptr) out[threadIdx.x] = winner;
}

TEST(PlainKernels, TakeNullsAndVolatilePointers) {
  Array<int> out{32};
  take_last<<<1, 32>>>(NULL, out);
  EXPECT_EQ(out[31], 7);
  take_last<<<1, 32>>>(0, out);
}

// ---- elements of any size, local arrays, pointers in memory, __device__ arrays ----

__global__ void count_letters(const unsigned char* text, unsigned* counts, int n) {
  __shared__ unsigned char letters[64];
  unsigned local[2] = {0, 0};
  int i = threadIdx.x;
  letters[i] = i < n ? text[i] : 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k)
    ++local[letters[(i + k) % 64] == 'a' ? 1 : 0];
  counts[i] = local[1];
}

TEST(PlainKernels, OverBytesDoNotRaceWithTheirNeighbours) {
  Array<unsigned char> text{64};
  Array<unsigned> counts{64};
  for (int i = 0; i < 64; i += 4)
    text[i] = 'a';
  EXPECT_EQ(finding_of([&] { count_letters<<<1, 64>>>(text, counts, 60); }), "");
  EXPECT_EQ(counts[63], 15U);
  EXPECT_EQ(last_launch_counters().shared_store_wavefronts, 2U) << "four lanes share a word";
  EXPECT_EQ(last_launch_counters().global_load_sectors, 2U);
}

__global__ void store_bytes(unsigned char* out, int distinct) { out[threadIdx.x % distinct] = 1; }

TEST(PlainKernels, OverBytesRaceByTheByte) {
  Array<unsigned char> out{64};
  EXPECT_EQ(finding_of([&] { store_bytes<<<1, 64>>>(out, 64); }), "");
  const std::string text = finding_of([&] { store_bytes<<<1, 64>>>(out, 63); });
  EXPECT_TRUE(text.starts_with(
      "race in store_bytes: block 0, thread 0 writes 1-byte word 0 of a global buffer (64 words)"))
      << text;
}

struct List {
  float* first;
  int length;
};

__global__ void follow(const List* lists, float* out) {
  const List list = lists[threadIdx.x];
  float sum = 0;
  for (int i = 0; i < list.length; ++i)
    sum += list.first[i];
  out[threadIdx.x] = sum;
}

TEST(PlainKernels, FollowPointersInMemory) {
  Array<float> numbers{10};
  Array<List> lists{2};
  Array<float> out{2};
  std::fill_n(static_cast<float*>(numbers), 10, 1.0F);
  lists[0] = {numbers, 10};
  lists[1] = {numbers + 5, 5};
  EXPECT_EQ(finding_of([&] { follow<<<1, 2>>>(lists, out); }), "");
  EXPECT_EQ(out[0] + out[1], 15.0F);
#ifdef __clang__  // counts lists in words
  EXPECT_EQ(last_launch_counters().global_load_lanes, 15U + 2 * 4);
#else
  EXPECT_EQ(last_launch_counters().global_load_lanes, 15U + 2);
#endif
  lists[1].length = 6;
  const std::string text = finding_of([&] { follow<<<1, 2>>>(lists, out); });
  EXPECT_NE(text.find("thread 1 reads 4-byte word 10 of a global buffer (10 words)"), std::string::npos)
      << text;
}

__device__ int histogram[8];
__constant__ int weights[2] = {1, 10};

__global__ void add_to_histogram(bool atomically) {
  int* const bin = &histogram[threadIdx.x % 8];
  if (atomically) {
    atomicAdd(bin, weights[threadIdx.x % 2]);
  } else {
    *bin += weights[threadIdx.x % 2];
  }
}

TEST(PlainKernels, ShareDeviceArrays) {
  std::fill_n(histogram, 8, 0);
  EXPECT_EQ(finding_of([] { add_to_histogram<<<4, 32>>>(true); }), "");
  EXPECT_EQ(histogram[0], 16);
  EXPECT_EQ(histogram[7], 160);
  EXPECT_EQ(last_launch_counters().atomics, 128U);
  const std::string text = finding_of([] { add_to_histogram<<<1, 32>>>(false); });
  EXPECT_TRUE(text.starts_with("race in add_to_histogram: block 0, thread ")) << text;
  EXPECT_NE(text.find("4 bytes of a __device__ variable"), std::string::npos) << text;
}

__global__ void count_odd(const int* in, int* out) {
  __shared__ int odd;
  if (threadIdx.x == 0) odd = 0;
  __syncthreads();
  if (in[threadIdx.x] % 2 != 0) atomicAdd(&odd, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = odd;
}

TEST(PlainKernels, UpdateStaticSharedVariablesAtomically) {
  Array<int> in{64};
  Array<int> out{1};
  for (int i = 0; i < 64; ++i)
    in[i] = i;
  EXPECT_EQ(finding_of([&] { count_odd<<<1, 64>>>(in, out); }), "");
  EXPECT_EQ(out[0], 32);
  EXPECT_EQ(last_launch_counters().atomics, 32U);
}

__global__ void load_vectors(const float4* in, float* out) {
  float4 four = in[threadIdx.x];
  out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

TEST(PlainKernels, LoadVectorsAtOnce) {
  Array<float> in{132};
  Array<float> out{32};
  std::fill_n(static_cast<float*>(in), 132, 1.0F);
  load_vectors<<<1, 32>>>(reinterpret_cast<const float4*>(in + 0), out);
  EXPECT_EQ(out[31], 4.0F);
  EXPECT_EQ(last_launch_counters().global_load_requests, 1U);
  EXPECT_EQ(last_launch_counters().global_load_sectors, 16U);
  const std::string text =
      finding_of([&] { load_vectors<<<1, 32>>>(reinterpret_cast<const float4*>(in + 1), out); });
  EXPECT_TRUE(text.starts_with("misaligned access in load_vectors: block 0, thread 0 reads 16 bytes"))
      << text;
}

/// Whichever way a vector is stored, a GPU stores its bytes at once.
template <typename T> __global__ void store_vectors(const T* in, T* out, float* sums) {
  __shared__ T tile[64];
  const unsigned i = threadIdx.x;
  tile[i] = in[i];
  __syncthreads();
  T mine = tile[63 - i];
  mine.x += 1;
  out[i] = mine;
  *(out + 64 + i) = in[i];
  T& there = out[128 + i];
  there = i % 2 == 0 ? mine : tile[i];
  reinterpret_cast<T*>(reinterpret_cast<float*>(out))[192 + i] = T(mine);
  sums[i] = static_cast<float>(mine.x + mine.y);
}

template <typename T> void expect_one_store_a_vector(unsigned sectors) {
  Array<T> in{64};
  Array<T> out{256};
  Array<float> sums{64};
  EXPECT_EQ(finding_of([&] { store_vectors<T><<<1, 64>>>(in, out, sums); }), "");
  const auto& counted = last_launch_counters();
  const unsigned warps = 2;
  EXPECT_EQ(counted.global_store_requests, warps * 5);
  EXPECT_EQ(counted.global_store_sectors, warps * (4 * sectors + 4));
  EXPECT_EQ(counted.global_load_requests, warps * 2);
  EXPECT_EQ(counted.shared_store_requests, warps);
  // Each quarter or half of a warp takes a wavefront of its own.
  EXPECT_EQ(counted.shared_store_wavefronts, warps * sectors / 4);
  EXPECT_EQ(counted.shared_store_conflicts, 0U);
  EXPECT_EQ(counted.shared_load_requests, warps * 2);
}

TEST(PlainKernels, StoreVectorsAtOnce) {
  expect_one_store_a_vector<float4>(16);
  expect_one_store_a_vector<int4>(16);
  expect_one_store_a_vector<double2>(16);
  expect_one_store_a_vector<longlong2>(16);
  expect_one_store_a_vector<float2>(8);
  expect_one_store_a_vector<uint2>(8);
}

/// Vectors made at once, and vectors within a struct and an array.
struct Pair {
  float4 first, second;
};
__global__ void make_vectors(float4* out, Pair* pairs) {
  const unsigned i = threadIdx.x;
  const float x = static_cast<float>(i);
  out[i] = make_float4(x, x, x, x);
  out[32 + i] = {x, 1, 2, 3};
  float4 local[2];
  local[0] = out[i];
  local[1] = local[0];
  pairs[i].first = local[i % 2];
  pairs[i].second = local[1];
  out[64 + i].y = 1;
}

TEST(PlainKernels, StoreVectorsThatTheyMakeAtOnce) {
  Array<float4> out{96};
  Array<Pair> pairs{32};
  EXPECT_EQ(finding_of([&] { make_vectors<<<1, 32>>>(out, pairs); }), "");
  EXPECT_EQ(last_launch_counters().global_store_requests, 5U);
  EXPECT_EQ(last_launch_counters().global_store_sectors, 16U + 16 + 32 + 32 + 16);
  EXPECT_EQ(last_launch_counters().global_store_lanes, 5U * 32);
  EXPECT_EQ(pairs[3].second.y, 3.0F);
}

#ifndef __clang__  // which copies a struct without a word of its alignment
/// A newcomer's own vector.
struct __align__(16) Quad {
  float a, b, c, d;
};
__global__ void store_quads(const Quad* in, Quad* out) {
  const unsigned i = threadIdx.x;
  const float x = static_cast<float>(i);
  out[i] = in[i];
  Quad quad = in[i];
  quad.b = x;
  out[32 + i] = quad;
}

TEST(PlainKernels, StoreStructsThatAreAlignedToTheirSizeAtOnce) {
  Array<Quad> in{32};
  Array<Quad> out{64};
  EXPECT_EQ(finding_of([&] { store_quads<<<1, 32>>>(in, out); }), "");
  EXPECT_EQ(last_launch_counters().global_load_requests, 2U);
  EXPECT_EQ(last_launch_counters().global_store_requests, 2U);
  EXPECT_EQ(last_launch_counters().global_store_sectors, 2U * 16);
}
#endif

__global__ void past_a_static_array(float* out, int index) {
  __shared__ float one[32];
  __shared__ float other[32];
  one[threadIdx.x] = other[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = one[index];
}

TEST(PlainKernels, DoNotReadPastTheEndOfAStaticArray) {
  Array<float> out{32};
  EXPECT_EQ(finding_of([&] { past_a_static_array<<<1, 32>>>(out, 31); }), "");
  for (const int index : {-1, 32, 40}) {
    const std::string text = finding_of([&] { past_a_static_array<<<1, 32>>>(out, index); });
    EXPECT_NE(text.find("4-byte word " + std::to_string(index) + " of a shared variable of 32"),
              std::string::npos)
        << text;
  }
}

/// Of a size that the compiler knows.
template <std::size_t bytes> __global__ void copy_by_memcpy(const std::byte* in, std::byte* out) {
  alignas(16) __shared__ std::byte tile[8 * bytes];
  std::memcpy(tile + bytes * threadIdx.x, in + bytes * threadIdx.x, bytes);
  std::memmove(out + bytes * threadIdx.x, tile + bytes * (threadIdx.x ^ 1), bytes);
}
template <std::size_t bytes> __global__ void clear_by_memset(std::byte* out) {
  std::memset(out + bytes * threadIdx.x, 0, bytes);
}

template <std::size_t bytes> void expect_memcpy_to_be_followed() {
  Array<std::byte> in{8 * bytes};
  Array<std::byte> out{8 * bytes};
  const std::string text = finding_of([&] { copy_by_memcpy<bytes><<<1, 8>>>(in, out); });
  EXPECT_TRUE(text.starts_with("race in ")) << bytes << text;
  EXPECT_EQ(finding_of([&] { clear_by_memset<bytes><<<1, 8>>>(out); }), "");
  const std::size_t parts = bytes > 16 && bytes % 8 == 0 ? bytes / 8 : (bytes + 3) / 4;
  if (bytes % 4 == 0) {
    EXPECT_EQ(last_launch_counters().global_store_requests, parts) << bytes;
  }
  EXPECT_TRUE(finding_of([&] { clear_by_memset<bytes><<<1, 9>>>(out); }).starts_with("out of bounds in "))
      << bytes;
}

TEST(PlainKernels, CopyAndClearBytesOfAnyNumber) {
  expect_memcpy_to_be_followed<1>();
  expect_memcpy_to_be_followed<3>();
  expect_memcpy_to_be_followed<4>();
  expect_memcpy_to_be_followed<8>();
  expect_memcpy_to_be_followed<16>();
  expect_memcpy_to_be_followed<24>();
  expect_memcpy_to_be_followed<64>();
  expect_memcpy_to_be_followed<1024>();
}

/// Larger than what compilers copy in line.
struct Page {
  int words[4096];
};
__global__ void copy_page(const Page* in, Page* out) { *out = *in; }

#if defined(__x86_64__) || defined(__clang__)
TEST(PlainKernels, CopyALargeStructOnce) {
  Array<Page> in{1};
  Array<Page> out{1};
  copy_page<<<1, 1>>>(in, out);
  EXPECT_EQ(last_launch_counters().global_load_requests, sizeof(Page) / 8);
  EXPECT_EQ(last_launch_counters().global_store_requests, sizeof(Page) / 8);
}
#endif

/// No `const`: each word is followed for both its loads and its stores.
__global__ void add_vectors(int* a, int* b, int* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] += a[i] + b[i];
}

long most_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(PlainKernels, TakeLittleMemoryBesideTheirBuffers) {
#ifdef REDUCTION_SANITIZED
  GTEST_SKIP() << "a sanitizer keeps memory of its own";
#endif
  const unsigned n = 1U << 20;
  Array<int> a{n};
  Array<int> b{n};
  Array<int> c{n};
  set_host_threads(1);  // each has the stacks of a block's threads besides
  const long before = most_kilobytes();
  add_vectors<<<n / 256, 256>>>(a, b, c, n);
  set_host_threads(0);
  EXPECT_LT(most_kilobytes() - before, 4 * 3 * n / 1024) << "as much again as the buffers";
}

}  // namespace
