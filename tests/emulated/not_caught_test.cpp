/// What the emulated device does not catch: each of these kernels is wrong on some GPU, or counted otherwise there, and
/// runs without a finding here. A kernel that one day has a finding is to leave this file, and the page's table.
#include <gtest/gtest.h>

#include <cstddef>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"
#include "emulated/launches.hpp"

namespace {

using namespace __emulated;
using Ints = DeviceArray<int>;
using Words = DeviceArray<unsigned>;

// ---- the right bytes are hit for the wrong reason ----

__global__ void add_one_unguarded(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

TEST(NotCaught, AMissingBoundsCheckWhereTheInputFillsTheGrid) {
  expect_finding([] { add_one_unguarded<<<2, 64>>>(Ints{128}); });
  // out of bounds
  expect_finding([] { add_one_unguarded<<<3, 64>>>(Ints{128}); });
}

__global__ void store_far_past_the_end(int* a, std::ptrdiff_t to_another_buffer) {
  a[to_another_buffer + threadIdx.x] = 1;
}

TEST(NotCaught, AStrayAccessThatHitsAnotherBuffer) {
  expect_finding([] {
    const Ints a{32};
    const Ints another{32};
    store_far_past_the_end<<<1, 32>>>(a, another.begin() - a.begin());
    EXPECT_EQ(another[31], 1);
  });
}

__global__ void sum_past_the_row(const int* in, int* out) {
  __shared__ int rows[2][32];
  rows[0][threadIdx.x] = in[threadIdx.x];
  rows[1][threadIdx.x] = in[32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = rows[0][threadIdx.x] + rows[0][threadIdx.x + 1];  // lane 31: of the next row
}

TEST(NotCaught, AnIndexPastARow) {
  expect_finding([] {
    const Ints in{64};
    const Ints out{32};
    in[32] = 7;
    sum_past_the_row<<<1, 32>>>(in, out);
    EXPECT_EQ(out[31], 7);
  });
}

__global__ void gather_with_a_short_index(const int* in, int* out) {
  const unsigned short i = static_cast<unsigned short>(threadIdx.x * 4096);  // 65536 is 0 again
  out[threadIdx.x] = in[i];
}

TEST(NotCaught, AnIndexThatOverflowsAndIsStillInTheBuffer) {
  expect_finding([] {
    const Ints in{131072};
    const Ints out{32};
    in[65536] = 7;
    gather_with_a_short_index<<<1, 32>>>(in, out);
    EXPECT_EQ(out[16], 0) << "in[65536] was meant";
  });
}

// ---- what is no access to memory ----

__global__ void mean_that_overflows(const unsigned* a, const unsigned* b, unsigned* out) {
  out[threadIdx.x] = (a[threadIdx.x] + b[threadIdx.x]) / 2;
}

TEST(NotCaught, ASumThatOverflows) {
  expect_finding([] {
    const Words a{32, 3U << 30};
    const Words b{32, 3U << 30};
    const Words out{32};
    mean_that_overflows<<<1, 32>>>(a, b, out);
    EXPECT_EQ(out[0], 1U << 30) << "a third of the mean";
  });
}

// The compiler warns of it. nvcc does, too.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
__global__ void sum_that_starts_anywhere(const unsigned* in, unsigned* out) {
  unsigned sum;
  for (unsigned i = 0; i < 4; ++i)
    sum += in[4 * threadIdx.x + i];
  out[threadIdx.x] = sum;
}
#pragma GCC diagnostic pop

TEST(NotCaught, AnUninitialisedLocalVariable) {
  expect_finding([] {
    const Words in{128};
    const Words out{32};
    sum_that_starts_anywhere<<<1, 32>>>(in, out);
  });
}

// ---- order: what a GPU does not promise, and the emulated device always does ----

/// Each block waits for the one before it. Nothing makes a GPU start the lower one first: with more blocks than it holds at
/// once, the higher ones may wait forever. A ticket in place of blockIdx.x would be right.
__global__ void running_sum_by_block_number(const int* in, int* out, unsigned* done) {
  if (threadIdx.x != 0) return;
  const unsigned block = blockIdx.x;
  while (atomicAdd(done, 0U) != block) {
  }
  __threadfence();
  out[block] = in[block] + (block == 0 ? 0 : out[block - 1]);
  __threadfence();
  atomicAdd(done, 1U);
}

TEST(NotCaught, BlocksThatRelyOnTheirOrder) {
  expect_finding([] {
    const Ints in{50, 1};
    const Ints out{50};
    const Words done{1};
    running_sum_by_block_number<<<50, 32>>>(in, out, done);
    EXPECT_EQ(out[49], 50);
  });
}

/// Block 1 takes for granted that block 0 has raised the flag: it reads it and does not look at it.
__global__ void flag_nobody_looks_at(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 7;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    atomicAdd(flag, 0);
    __threadfence();
    *out = *data;
  }
}

TEST(NotCaught, AFlagThatNobodyLooksAt) {
  expect_finding([] {
    const Ints data{1};
    const Ints flag{1};
    const Ints out{1};
    flag_nobody_looks_at<<<2, 1>>>(data, flag, out);
    EXPECT_EQ(*out, 7);
  });
}

/// The last block reads what all others have stored, without a fence behind its ticket: a GPU may have read it before.
__global__ void ticket_with_one_fence(int* partial, unsigned* tickets, int* out) {
  partial[blockIdx.x] = 1;
  __threadfence();
  if (atomicAdd(tickets, 1U) != gridDim.x - 1) return;
  int sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k)
    sum += partial[k];
  *out = sum;
}

TEST(NotCaught, AMissingFenceOfTheReader) {
  expect_finding([] {
    const Ints partial{20};
    const Words tickets{1};
    const Ints out{1};
    ticket_with_one_fence<<<20, 1>>>(partial, tickets, out);
    EXPECT_EQ(*out, 20);
  });
}

/// A GPU adds in another order in each run.
__global__ void sum_of_floats(const float* in, float* out) { atomicAdd(out, in[blockIdx.x]); }

TEST(NotCaught, FloatsWhoseSumDependsOnTheOrder) {
  expect_finding([] {
    const DeviceArray<float> in{3};
    in[0] = 1.0F;
    in[1] = 1e8F;
    in[2] = -1e8F;
    const DeviceArray<float> out{1};
    sum_of_floats<<<3, 1>>>(in, out);
    EXPECT_EQ(*out, 0.0F) << "1 in another order";
  });
}

// ---- what nvcc makes of the source ----

__global__ void load_twice(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x]; }

TEST(NotCaught, ALoadThatNvccKeepsInARegister) {
  expect_finding([] {
    const Ints in{32};
    const Ints out{32};
    load_twice<<<1, 32>>>(in, out);
    EXPECT_EQ(last_launch_counters().global_load_requests, 2U) << "nvcc loads once";
  });
}

/// Lane t adds t % 4 + 1 words of each row, at the same place. On a GPU a request is one pass of the inner loop.
__global__ void sum_of_short_rows(const int* in, int* out) {
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = 0; j <= t % 4; ++j)
      sum += in[i * 128 + j * 32 + t];
  out[t] = sum;
}

TEST(NotCaught, PassesThatLanesMakeInDifferentNumbers) {
  expect_finding([] {
    const Ints in{512};
    const Ints out{32};
    sum_of_short_rows<<<1, 32>>>(in, out);
    EXPECT_EQ(last_launch_counters().global_load_requests, 16U) << "as on a GPU";
    EXPECT_EQ(last_launch_counters().global_load_sectors, 136U) << "64 on a GPU, 4 a request";
  });
}

}  // namespace
