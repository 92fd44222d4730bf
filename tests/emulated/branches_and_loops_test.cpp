/// Kernels as a newcomer writes them: calls and barriers in branches and loops. Which accesses are one instruction there is in
/// lane_alignment_test.cpp.
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

/// The calls on the two sides load different elements: in[0] to in[31] are four sectors, and so are in[32] to in[63].
__global__ void branch_around_calls(const float* in, float* out) {
  const unsigned i = threadIdx.x;
  float value = 0;
  if (i % 2 == 0) {
    value = load_aside(in, i);
  } else {
    value = load_aside(in, i + 32);
  }
  out[i] = value + load_aside(in, i);
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
  sweep({{"on both sides of a branch", [&] { branch<<<1, 32>>>(in, out); }, {{loads, 2}, {load_lanes, 32}}},
         // Two half warps from four sectors each, then the whole warp.
         {"not inlined",
          [&] { branch_around_calls<<<1, 32>>>(in, out); },
          {{loads, 3}, {load_sectors, 12}, {load_lanes, 64}}},
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

}  // namespace
