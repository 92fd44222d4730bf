/// What the emulated device does not catch: each of these kernels is wrong on some GPU, or counted otherwise there, and
/// runs without a finding here. A kernel that one day has a finding is to leave this file, and the page's table, which
/// tells why (common/emulated).
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

__global__ void add_one_unguarded(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

__global__ void store_far_past_the_end(int* a, std::ptrdiff_t to_another_buffer) {
  a[to_another_buffer + threadIdx.x] = 1;
}

__global__ void sum_past_the_row(const int* in, int* out) {
  __shared__ int rows[2][32];
  rows[0][threadIdx.x] = in[threadIdx.x];
  rows[1][threadIdx.x] = in[32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = rows[0][threadIdx.x] + rows[0][threadIdx.x + 1];  // lane 31: of the next row
}

__global__ void gather_with_a_short_index(const int* in, int* out) {
  const unsigned short i = static_cast<unsigned short>(threadIdx.x * 4096);  // 65536 is 0 again
  out[threadIdx.x] = in[i];
}

__global__ void mean_that_overflows(const unsigned* a, const unsigned* b, unsigned* out) {
  out[threadIdx.x] = (a[threadIdx.x] + b[threadIdx.x]) / 2;
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

/// A GPU adds in another order in each run.
__global__ void sum_of_floats(const float* in, float* out) { atomicAdd(out, in[blockIdx.x]); }

__global__ void load_twice(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x]; }

/// Lane t adds t % 4 + 1 words of each row, at the same place. On a GPU a request is one pass of the inner loop.
__global__ void sum_of_short_rows(const int* in, int* out) {
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned j = 0; j <= t % 4; ++j)
      sum += in[i * 128 + j * 32 + t];
  out[t] = sum;
}

TEST(NotCaught, RunsWithoutAFinding) {
  expect_finding([] {
    const Ints in{131072}, out{128};
    add_one_unguarded<<<2, 64>>>(out);
    store_far_past_the_end<<<1, 32>>>(out, in.begin() - out.begin());
    EXPECT_EQ(in[31], 1);
    in[32] = 7;
    sum_past_the_row<<<1, 32>>>(in, out);
    EXPECT_EQ(out[31], 1 + 7);
    in[65536] = 7;
    gather_with_a_short_index<<<1, 32>>>(in, out);
    EXPECT_EQ(out[16], 1) << "in[65536] was meant";
    mean_that_overflows<<<1, 32>>>(Words{32, 3U << 30}, Words{32, 3U << 30}, Words{32});
    sum_that_starts_anywhere<<<1, 32>>>(Words{128}, Words{32});
    const Ints ones{50, 1};
    running_sum_by_block_number<<<50, 32>>>(ones, out, Words{1});
    EXPECT_EQ(out[49], 50);
    flag_nobody_looks_at<<<2, 1>>>(Ints{1}, Ints{1}, out);
    EXPECT_EQ(out[0], 7);
    ticket_with_one_fence<<<20, 1>>>(Ints{20}, Words{1}, out);
    EXPECT_EQ(out[0], 20);
    const DeviceArray<float> numbers{3}, sum{1};
    numbers[0] = 1.0F;
    numbers[1] = 1e8F;
    numbers[2] = -1e8F;
    sum_of_floats<<<3, 1>>>(numbers, sum);
    EXPECT_EQ(sum[0], 0.0F) << "1 in another order";
    const Counters loads = counters_of([&] { load_twice<<<1, 32>>>(in, out); });
    EXPECT_EQ(loads.global_load_requests, 2U) << "nvcc loads once";
    const Counters rows = counters_of([&] { sum_of_short_rows<<<1, 32>>>(in, out); });
    EXPECT_EQ(rows.global_load_requests, 16U) << "as on a GPU";
    EXPECT_EQ(rows.global_load_sectors, 136U) << "64 on a GPU, 4 a request";
  });
}

}  // namespace
