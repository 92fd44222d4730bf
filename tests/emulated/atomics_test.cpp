/// CUDA's atomic operations leave on the emulated device what they leave on a GPU: a row for each, with its result by hand.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/kernel_sweep.hpp"

namespace {

using namespace __emulated;

template <typename T> using Array = DeviceArray<T>;

/// What each thread does to a cell, and what 16 threads, in ascending order, make of it.
template <typename T> struct Atomic {
  const char* name;
  T before;
  void (*operation)(T* cell, unsigned thread);
  T after;
};

/// In global and in shared memory, whose cells have neighbours.
template <typename T> __global__ void operate(void (*operation)(T*, unsigned), T* cells) {
  __shared__ T in_block[2];
  if (threadIdx.x == 0) in_block[0] = in_block[1] = cells[0];
  __syncthreads();
  operation(&cells[0], threadIdx.x);
  operation(&in_block[0], threadIdx.x);
  __syncthreads();
  if (threadIdx.x < 2) cells[2 + threadIdx.x] = in_block[threadIdx.x];
}

template <typename T> void expect_atomics(const std::vector<Atomic<T>>& rows) {
  for (const Atomic<T>& row : rows) {
    Array<T> cells{4};
    cells[0] = cells[1] = row.before;
    operate<<<1, 16>>>(row.operation, cells.begin());
    for (const unsigned cell : {0U, 2U}) {
      EXPECT_EQ(std::memcmp(&cells[cell], &row.after, sizeof(T)), 0)
          << row.name << ": " << testing::PrintToString(cells[cell]);
      EXPECT_EQ(std::memcmp(&cells[cell + 1], &row.before, sizeof(T)), 0) << row.name << ": its neighbour";
    }
  }
}

template <typename T> std::vector<Atomic<T>> of_whole_numbers() {
  return {{"atomicExch", 0, [](T* cell, unsigned) { atomicExch(cell, T{7}); }, 7},
          {"atomicMin", 1000, [](T* cell, unsigned i) { atomicMin(cell, static_cast<T>(i + 3)); }, 3},
          {"atomicMax", 0, [](T* cell, unsigned i) { atomicMax(cell, static_cast<T>(i + 3)); }, 18},
          {"atomicAnd", static_cast<T>(~T{0}),
           [](T* cell, unsigned i) { atomicAnd(cell, static_cast<T>(~(T{1} << i))); },
           static_cast<T>(~T{0} << 16)},
          {"atomicOr", 0, [](T* cell, unsigned i) { atomicOr(cell, static_cast<T>(T{1} << i)); }, 0xffff},
          {"atomicXor", 0, [](T* cell, unsigned i) { atomicXor(cell, static_cast<T>(i)); }, 0},
          // Each finds what the one before has left.
          {"atomicCAS", 0,
           [](T* cell, unsigned i) { atomicCAS(cell, static_cast<T>(i), static_cast<T>(i + 1)); }, 16}};
}

/// Adds 1 as programs do that have no such atomic.
template <typename T, typename Next> void swap_until_it_is_ours(T* cell, const Next& next) {
  T seen{};
  while (true) {
    const T found = atomicCAS(cell, seen, next(seen));
    if (std::memcmp(&found, &seen, sizeof(T)) == 0) return;
    seen = found;
  }
}

/// A number and how often it was changed, in one word.
struct alignas(16) Counted {
  double sum;
  std::uint64_t changes;
};

TEST(Atomics, OfEachType) {
  expect_atomics<int>(of_whole_numbers<int>());
  expect_atomics<unsigned>(of_whole_numbers<unsigned>());
  expect_atomics<unsigned long long>(of_whole_numbers<unsigned long long>());
  constexpr int least = std::numeric_limits<int>::min();
  expect_atomics<int>({{"atomicAdd wraps around", least, [](int* cell, unsigned) { atomicAdd(cell, -2); },
                        std::numeric_limits<int>::max() - 31},
                       {"atomicSub", 0, [](int* cell, unsigned) { atomicSub(cell, 3); }, -48},
                       {"atomicAdd_block", 0, [](int* cell, unsigned) { atomicAdd_block(cell, 1); }, 16},
                       {"atomicMax_system", 0,
                        [](int* cell, unsigned i) { atomicMax_system(cell, static_cast<int>(i)); }, 15}});
  expect_atomics<unsigned>(
      {{"atomicAdd", 0, [](unsigned* cell, unsigned) { atomicAdd(cell, 1); }, 16},
       {"atomicSub wraps around", 0, [](unsigned* cell, unsigned) { atomicSub(cell, 1); }, 0xFFFFFFF0},
       {"atomicInc through 0 to 4", 0, [](unsigned* cell, unsigned) { atomicInc(cell, 4); }, 1},
       {"atomicDec through 4 to 0", 0, [](unsigned* cell, unsigned) { atomicDec(cell, 4); }, 4}});
  expect_atomics<long long>(
      {{"atomicMin", 5, [](long long* cell, unsigned i) { atomicMin(cell, -static_cast<long long>(i)); },
        -15},
       {"atomicMax", -100, [](long long* cell, unsigned i) { atomicMax(cell, i - 40LL); }, -25},
       {"atomicAnd", -1, [](long long* cell, unsigned i) { atomicAnd(cell, ~(1LL << (48 + i))); },
        0xFFFFFFFFFFFF},
       {"atomicOr", 0, [](long long* cell, unsigned i) { atomicOr(cell, 1LL << (32 + i)); }, 0xFFFF00000000},
       {"atomicXor", 5, [](long long* cell, unsigned) { atomicXor(cell, -1LL); }, 5}});
  expect_atomics<unsigned long long>(
      {{"atomicAdd", 0, [](unsigned long long* cell, unsigned) { atomicAdd(cell, 1ULL << 33); },
        16ULL << 33}});
  expect_atomics<unsigned short>({{"atomicCAS", 0,
                                   [](unsigned short* cell, unsigned) {
                                     swap_until_it_is_ours(cell, [](unsigned short seen) {
                                       return static_cast<unsigned short>(seen + 1);
                                     });
                                   },
                                   16}});
  expect_atomics<float>({{"atomicAdd", 0, [](float* cell, unsigned) { atomicAdd(cell, 0.5F); }, 8},
                         {"atomicExch", 0, [](float* cell, unsigned) { atomicExch(cell, 2.5F); }, 2.5F}});
  expect_atomics<double>({{"atomicAdd", 0, [](double* cell, unsigned) { atomicAdd(cell, 0.25); }, 4}});
  expect_atomics<float2>(
      {{"atomicAdd", make_float2(0, 0), [](float2* cell, unsigned) { atomicAdd(cell, make_float2(1, 2)); },
        make_float2(16, 32)}});
  expect_atomics<float4>({{"atomicAdd", make_float4(0, 0, 0, 0),
                           [](float4* cell, unsigned) { atomicAdd(cell, make_float4(1, 2, 3, 4)); },
                           make_float4(16, 32, 48, 64)}});
  expect_atomics<half>(
      {{"atomicAdd", 0, [](half* cell, unsigned) { atomicAdd(cell, half{0.5F}); }, 8},
       {"atomicAdd_system", 0, [](half* cell, unsigned) { atomicAdd_system(cell, half{0.25F}); }, 4}});
  expect_atomics<half2>(
      {{"atomicAdd", make_half2(0, 0), [](half2* cell, unsigned) { atomicAdd(cell, make_half2(1, 2)); },
        make_half2(16, 32)},
       {"atomicAdd_block", make_half2(0, 0),
        [](half2* cell, unsigned) { atomicAdd_block(cell, make_half2(3, 4)); }, make_half2(48, 64)}});
  expect_atomics<nv_bfloat16>(
      {{"atomicAdd", 0, [](nv_bfloat16* cell, unsigned) { atomicAdd(cell, nv_bfloat16{1}); }, 16},
       {"atomicAdd_block", 0, [](nv_bfloat16* cell, unsigned) { atomicAdd_block(cell, nv_bfloat16{2}); },
        32}});
  expect_atomics<Counted>({{"atomicCAS",
                            {},
                            [](Counted* cell, unsigned) {
                              swap_until_it_is_ours(cell, [](const Counted& seen) {
                                return Counted{seen.sum + threadIdx.x, seen.changes + 1};
                              });
                            },
                            {15 * 16 / 2, 16}}});
  expect_atomics<uint4>({{"atomicExch_block", make_uint4(0, 0, 0, 0),
                          [](uint4* cell, unsigned i) { atomicExch_block(cell, make_uint4(1, 2, 3, i)); },
                          make_uint4(1, 2, 3, 15)}});
}

/// As many students write it: CUDA has no such function of float. It leaves others their names.
__device__ float atomicMax(float* address, float value) {
  int* const bits = reinterpret_cast<int*>(address);
  int seen = *bits;
  while (__int_as_float(seen) < value) {
    const int before = atomicCAS(bits, seen, __float_as_int(value));
    if (before == seen) break;
    seen = before;
  }
  return __int_as_float(seen);
}

TEST(Atomics, LeaveRoomForOverloadsOfTheKernelsOwn) {
  expect_atomics<float>({{"atomicMax", 0,
                          [](float* cell, unsigned i) {
                            if (i == 9) atomicMax(cell, 5);
                          },
                          5}});
}

__device__ unsigned turnstile;

__global__ void count_in_threes(unsigned* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = atomicInc(&turnstile, 2);
}

__global__ void add_all(const float* in, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}

TEST(Atomics, OfSeveralBlocks) {
  constexpr unsigned n = 100'003;
  Array<unsigned> tickets{96};
  Array<float> in{n}, out{1};
  float expected = 0;
  for (unsigned i = 0; i < n; ++i)
    expected += in[i] = 1.0F / static_cast<float>(i + 1);
  turnstile = 0;
  EXPECT_EQ(counters_of([&] { count_in_threes<<<3, 32>>>(tickets); }).atomics, 96U);
  for (const unsigned ticket : {0U, 1U, 2U})
    EXPECT_EQ(std::count(tickets.begin(), tickets.end(), ticket), 32);
  EXPECT_EQ(turnstile, 0U);
  for (const unsigned host_threads : {1U, 2U, 7U}) {
    set_host_threads(host_threads);
    out[0] = 0;
    EXPECT_EQ(counters_of([&] { add_all<<<ceil_divide(n, 128), 128>>>(in, out, n); }).atomics, n);
    EXPECT_EQ(out[0], expected) << "the same on any number of host threads: " << host_threads;
  }
  set_host_threads(0);
}

__global__ void race_with_sixteen_bytes(Counted* total) {
  if (threadIdx.x == 0) atomicExch(total, Counted{1, 2});
  if (threadIdx.x == 40) total->changes = 3;
}

TEST(Atomics, OfSixteenBytesRaceInEachOfThem) {
  Array<Counted> total{1};
  expect_findings(
      {{"race in race_with_sixteen_bytes: ", [&] { race_with_sixteen_bytes<<<1, 64>>>(total); }}});
}

}  // namespace
