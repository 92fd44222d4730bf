/// Kernels as a newcomer writes them, without a word of this repository in them, are counted and checked, too.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "device/dialect.cuh"
#include "device_array.hpp"

namespace {

using reduction::emulated::finding_of;
using reduction::emulated::last_launch_counters;

template <typename T> using Array = reduction::emulated::DeviceArray<T>;

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
  EXPECT_NE(text.find(" of a shared variable at tests/plain_kernels_test.cpp:"), std::string::npos) << text;
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
                       "buffer (128 words) at tests/plain_kernels_test.cpp:"))
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
  const unsigned n = 1U << 20;
  Array<int> a{n};
  Array<int> b{n};
  Array<int> c{n};
  const long before = most_kilobytes();
  add_vectors<<<n / 256, 256>>>(a, b, c, n);
  EXPECT_LT(most_kilobytes() - before, 4 * 3 * n / 1024) << "as much again as the buffers";
}

}  // namespace
