/// Kernels as a newcomer writes them, without a word of this repository in them, are counted and checked, too: what they do
/// with memory. All counts are by hand.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/kernel_sweep.hpp"

namespace {

using namespace __emulated;
using deletable::__syncthreads;
using deletable::__syncwarp;

template <typename T> using Array = DeviceArray<T>;

// ---- shared memory ----

/// All lanes read one word, or two that share a bank.
__global__ void read_words(unsigned* out, unsigned words) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = threadIdx.x;
  tile[threadIdx.x + 32] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x % words * 32];
}

/// Neighbouring lanes read from two sectors in turn.
__global__ void read_two_sectors_in_turn(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x % 2 * 8];
}

__global__ void count_odd(const int* in, int* out) {
  __shared__ int odd;
  if (threadIdx.x == 0) odd = 0;
  __syncthreads();
  if (in[threadIdx.x] % 2 != 0) atomicAdd(&odd, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = odd;
}

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

TEST(PlainKernels, CountWhatTheyDoWithSharedMemory) {
  Array<float> in{32}, out{32};
  Array<int> numbers{64}, results{64};
  Array<unsigned> naturals{64};
  Array<unsigned char> text{64};
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int i = 0; i < 64; i += 4)
    text[i] = 'a';
  sweep({{"a word that all lanes read",
          [&] { read_words<<<1, 32>>>(naturals, 1); },
          {{shared_loads, 1}, {shared_load_wavefronts, 1}, {shared_load_conflicts, 0}}},
         {"two words of one bank",
          [&] { read_words<<<1, 32>>>(naturals, 2); },
          {{shared_loads, 1}, {shared_load_wavefronts, 2}, {shared_load_conflicts, 1}}},
         {"a sector is one of a request's, whichever lanes ask for it",
          [&] { read_two_sectors_in_turn<<<1, 32>>>(in, out); },
          {{loads, 1}, {load_sectors, 2}}},
         {"atomics on a static variable",
          [&] {
            count_odd<<<1, 64>>>(numbers, results);
            EXPECT_EQ(results[0], 32);
          },
          {{atomics, 32}},
          Traces::add_up},
         {"four lanes share a word of bytes",
          [&] {
            count_letters<<<1, 64>>>(text, naturals, 60);
            EXPECT_EQ(naturals[63], 15U);
          },
          {{shared_store_wavefronts, 2}, {load_sectors, 2}}}});
}

// ---- structs, vectors, arrays ----

struct Point {
  float x, y;
};

__global__ void shift(Point* points, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Point point = points[i];
  point.x += by;
  point.y -= by;
  points[i] = point;
}

Point operator+(const Point& a, const Point& b) { return {a.x + b.x, a.y + b.y}; }
__device__ float length_of(Point point) { return point.x + point.y; }

__global__ void sum_points(const Point* in, Point* out, float* length) {
  __shared__ Point tile[64];
  unsigned i = threadIdx.x;
  tile[i] = in[i];
  __syncthreads();
  for (unsigned stride = 32; stride > 0; stride /= 2) {
    if (i < stride) tile[i] = tile[i] + tile[i + stride];
    __syncthreads();
  }
  if (i == 0) out[0] = tile[0];
  if (i == 0) length[0] = length_of(tile[0]);
}

TEST(PlainKernels, CountStructsAsTheirAlignmentAllows) {
  Array<Point> points{64}, sum{1};
  Array<float> out{1};
  std::fill(points.begin(), points.end(), Point{1, 2});
  sweep(
      {// A GPU loads each float by itself where 8 bytes at once might not be aligned.
       {"a struct of two floats",
        [&] {
          Array<Point> moved{64};
          shift<<<2, 32>>>(moved, 2.0F);
          EXPECT_EQ(moved[63].x, 2.0F);
          EXPECT_EQ(moved[63].y, -2.0F);
        },
        {{loads, 4}, {load_sectors, 32}, {stores, 4}}},
       // In words: two to copy, four to load and two to store in each of six levels, and two for each of the results.
       {"structs passed to functions and back",
        [&] {
          sum_points<<<1, 64>>>(points, sum, out);
          EXPECT_EQ(sum[0].x, 64.0F);
          EXPECT_EQ(out[0], 192.0F);
        },
        {{shared_store_lanes, 2 * 64 + 2 * 63}, {shared_load_lanes, 4 * 63 + 2 + 2}}}});
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

/// `sectors` of a warp's vectors.
template <typename T> void expect_one_store_a_vector(const std::string& name, unsigned sectors) {
  Array<T> in{64}, out{256};
  Array<float> sums{64};
  const unsigned warps = 2;
  // Each quarter or half of a warp takes a wavefront of its own.
  sweep({{name,
          [&] { store_vectors<T><<<1, 64>>>(in, out, sums); },
          {{stores, warps * 5},
           {store_sectors, warps * (4 * sectors + 4)},
           {loads, warps * 2},
           {shared_stores, warps},
           {shared_store_wavefronts, warps * sectors / 4},
           {shared_store_conflicts, 0},
           {shared_loads, warps * 2}}}});
}

TEST(PlainKernels, StoreVectorsAtOnce) {
  expect_one_store_a_vector<float4>("float4", 16);
  expect_one_store_a_vector<int4>("int4", 16);
  expect_one_store_a_vector<double2>("double2", 16);
  expect_one_store_a_vector<longlong2>("longlong2", 16);
  expect_one_store_a_vector<float2>("float2", 8);
  expect_one_store_a_vector<uint2>("uint2", 8);
}

/// No `const`: each word is followed for both its loads and its stores.
__global__ void add_vectors(int* a, int* b, int* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] += a[i] + b[i];
}

/// So many accesses that they are counted while the kernel runs.
__global__ void add_for_long(int* a, unsigned times) {
  for (unsigned k = 0; k < times; ++k)
    a[threadIdx.x] += 1;
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
  add_for_long<<<1, 32>>>(a, 200'000U);
  set_host_threads(0);
  EXPECT_LT(most_kilobytes() - before, 4 * 3 * n / 1024) << "as much again as the buffers";
}

}  // namespace
