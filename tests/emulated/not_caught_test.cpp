/// What the emulated device does not catch: each of these kernels is wrong on some GPU, or counted otherwise there, and
/// runs without a finding here. A kernel that one day has a finding is to leave this file, and the page's table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"

namespace {

using __emulated::finding_of;
using __emulated::last_launch_counters;

template <typename T> using Array = __emulated::DeviceArray<T>;

// ---- the right bytes are hit for the wrong reason ----

__global__ void add_one_unguarded(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

TEST(NotCaught, AMissingBoundsCheckWhereTheInputFillsTheGrid) {
  Array<int> a{128};
  EXPECT_EQ(finding_of([&] { add_one_unguarded<<<2, 64>>>(a); }), "");
  EXPECT_NE(finding_of([&] { add_one_unguarded<<<3, 64>>>(a); }), "") << "one block more, and it is found";
}

__global__ void store_far_past_the_end(int* a, std::ptrdiff_t to_another_buffer) {
  a[to_another_buffer + threadIdx.x] = 1;
}

TEST(NotCaught, AStrayAccessThatHitsAnotherBuffer) {
  Array<int> a{32};
  Array<int> another{32};
  EXPECT_EQ(finding_of([&] { store_far_past_the_end<<<1, 32>>>(a, another.begin() - a.begin()); }), "");
  EXPECT_EQ(another[31], 1);
}

__global__ void sum_past_the_row(const int* in, int* out) {
  __shared__ int rows[2][32];
  rows[0][threadIdx.x] = in[threadIdx.x];
  rows[1][threadIdx.x] = in[32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = rows[0][threadIdx.x] + rows[0][threadIdx.x + 1];  // lane 31: of the next row
}

TEST(NotCaught, AnIndexPastARow) {
  Array<int> in{64};
  Array<int> out{32};
  in[32] = 7;
  EXPECT_EQ(finding_of([&] { sum_past_the_row<<<1, 32>>>(in, out); }), "");
  EXPECT_EQ(out[31], 7);
}

__global__ void gather_with_a_short_index(const int* in, int* out) {
  const unsigned short i = static_cast<unsigned short>(threadIdx.x * 4096);  // 65536 is 0 again
  out[threadIdx.x] = in[i];
}

TEST(NotCaught, AnIndexThatOverflowsAndIsStillInTheBuffer) {
  Array<int> in{131072};
  Array<int> out{32};
  in[65536] = 7;
  EXPECT_EQ(finding_of([&] { gather_with_a_short_index<<<1, 32>>>(in, out); }), "");
  EXPECT_EQ(out[16], 0) << "in[65536] was meant";
}

// ---- what is no access to memory ----

__global__ void mean_that_overflows(const unsigned* a, const unsigned* b, unsigned* out) {
  out[threadIdx.x] = (a[threadIdx.x] + b[threadIdx.x]) / 2;
}

TEST(NotCaught, ASumThatOverflows) {
  Array<unsigned> a{32};
  Array<unsigned> b{32};
  Array<unsigned> out{32};
  std::fill(a.begin(), a.end(), 3U << 30);
  std::fill(b.begin(), b.end(), 3U << 30);
  EXPECT_EQ(finding_of([&] { mean_that_overflows<<<1, 32>>>(a, b, out); }), "");
  EXPECT_EQ(out[0], 1U << 30) << "a third of the mean";
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
  Array<unsigned> in{128};
  Array<unsigned> out{32};
  EXPECT_EQ(finding_of([&] { sum_that_starts_anywhere<<<1, 32>>>(in, out); }), "");
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
  Array<int> in{50};
  Array<int> out{50};
  Array<unsigned> done{1};
  std::fill(in.begin(), in.end(), 1);
  EXPECT_EQ(finding_of([&] { running_sum_by_block_number<<<50, 32>>>(in, out, done); }), "");
  EXPECT_EQ(out[49], 50);
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
  Array<int> data{1};
  Array<int> flag{1};
  Array<int> out{1};
  EXPECT_EQ(finding_of([&] { flag_nobody_looks_at<<<2, 1>>>(data, flag, out); }), "");
  EXPECT_EQ(*out, 7);
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
  Array<int> partial{20};
  Array<unsigned> tickets{1};
  Array<int> out{1};
  EXPECT_EQ(finding_of([&] { ticket_with_one_fence<<<20, 1>>>(partial, tickets, out); }), "");
  EXPECT_EQ(*out, 20);
}

/// A GPU adds in another order in each run.
__global__ void sum_of_floats(const float* in, float* out) { atomicAdd(out, in[blockIdx.x]); }

TEST(NotCaught, FloatsWhoseSumDependsOnTheOrder) {
  Array<float> in{3};
  in[0] = 1.0F;
  in[1] = 1e8F;
  in[2] = -1e8F;
  std::set<float> sums;
  for (const unsigned threads : {1U, 2U, 4U}) {
    Array<float> out{1};
    __emulated::set_host_threads(threads);
    EXPECT_EQ(finding_of([&] { sum_of_floats<<<3, 1>>>(in, out); }), "");
    sums.insert(*out);
  }
  __emulated::set_host_threads(0);
  EXPECT_EQ(sums, std::set<float>{0.0F}) << "1 in another order";
}

// ---- what nvcc makes of the source ----

__global__ void load_twice(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x] * in[threadIdx.x]; }

TEST(NotCaught, ALoadThatNvccKeepsInARegister) {
  Array<int> in{32};
  Array<int> out{32};
  EXPECT_EQ(finding_of([&] { load_twice<<<1, 32>>>(in, out); }), "");
  EXPECT_EQ(last_launch_counters().global_load_requests, 2U) << "nvcc loads once";
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
  Array<int> in{512};
  Array<int> out{32};
  EXPECT_EQ(finding_of([&] { sum_of_short_rows<<<1, 32>>>(in, out); }), "");
  EXPECT_EQ(last_launch_counters().global_load_requests, 16U) << "as on a GPU";
  EXPECT_EQ(last_launch_counters().global_load_sectors, 136U) << "64 on a GPU, 4 a request";
}

// ---- the page ----

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream{file};
  return {std::istreambuf_iterator<char>{stream}, {}};
}

/// Everything that the pattern's first group matches.
std::set<std::string> found(const std::string& text, const char* pattern) {
  const std::regex expression{pattern};
  std::set<std::string> all;
  for (std::sregex_iterator match{text.begin(), text.end(), expression}; match != std::sregex_iterator{};
       ++match)
    all.insert((*match)[1]);
  return all;
}

TEST(NotCaught, AllAreOnThePage) {
  const std::filesystem::path folder{SOURCE_FOLDER};
  const std::string page = text_of(folder / "common/emulated/README.md");
  const std::size_t begin = page.find("\n## What is not caught\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  EXPECT_EQ(found(section, R"(\| `(\w+)` \|)"),
            found(text_of(folder / "tests/emulated/not_caught_test.cpp"), R"(\n__global__ void (\w+))"));
}

}  // namespace
