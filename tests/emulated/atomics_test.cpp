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
using deletable::__syncthreads;

template <typename T> using Array = DeviceArray<T>;

/// What each thread does to a cell, and what 16 threads, in ascending order, make of it.
template <typename T> struct Atomic {
  const char* name;
  T before, after;
  void (*operation)(T* cell, unsigned thread);
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
  constexpr T all = static_cast<T>(~T{0});
  return {{"atomicExch", 0, 7, [](T* cell, unsigned) { atomicExch(cell, T{7}); }},
          {"atomicMin", 1000, 3, [](T* cell, unsigned i) { atomicMin(cell, static_cast<T>(i + 3)); }},
          {"atomicMax", 0, 18, [](T* cell, unsigned i) { atomicMax(cell, static_cast<T>(i + 3)); }},
          {"atomicAnd", all, static_cast<T>(all << 16),
           [](T* cell, unsigned i) { atomicAnd(cell, static_cast<T>(~(T{1} << i))); }},
          {"atomicOr", 0, 0xffff, [](T* cell, unsigned i) { atomicOr(cell, static_cast<T>(T{1} << i)); }},
          {"atomicXor", 0, 0, [](T* cell, unsigned i) { atomicXor(cell, static_cast<T>(i)); }},
          // Each finds what the one before has left.
          {"atomicCAS", 0, 16,
           [](T* cell, unsigned i) { atomicCAS(cell, static_cast<T>(i), static_cast<T>(i + 1)); }}};
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
  expect_atomics<int>(
      {{"atomicAdd wraps around", least, std::numeric_limits<int>::max() - 31,
        [](auto cell, auto) { atomicAdd(cell, -2); }},
       {"atomicSub", 0, -48, [](auto cell, auto) { atomicSub(cell, 3); }},
       {"atomicAdd_block", 0, 16, [](auto cell, auto) { atomicAdd_block(cell, 1); }},
       {"atomicMax_system", 0, 15, [](auto cell, auto i) { atomicMax_system(cell, static_cast<int>(i)); }}});
  expect_atomics<unsigned>(
      {{"atomicAdd", 0, 16, [](auto cell, auto) { atomicAdd(cell, 1); }},
       {"atomicSub wraps around", 0, ~0U - 15, [](auto cell, auto) { atomicSub(cell, 1); }},
       {"atomicInc through 0 to 4", 0, 1, [](auto cell, auto) { atomicInc(cell, 4); }},
       {"atomicDec through 4 to 0", 0, 4, [](auto cell, auto) { atomicDec(cell, 4); }}});
  expect_atomics<long long>(
      {{"atomicMin", 5, -15, [](auto cell, auto i) { atomicMin(cell, -static_cast<long long>(i)); }},
       {"atomicMax", -100, -25, [](auto cell, auto i) { atomicMax(cell, i - 40LL); }},
       {"atomicAnd", -1, 0xFFFFFFFFFFFF, [](auto cell, auto i) { atomicAnd(cell, ~(1LL << (48 + i))); }},
       {"atomicOr", 0, 0xFFFF00000000, [](auto cell, auto i) { atomicOr(cell, 1LL << (32 + i)); }},
       {"atomicXor", 5, 5, [](auto cell, auto) { atomicXor(cell, -1LL); }}});
  expect_atomics<unsigned long long>(
      {{"atomicAdd", 0, 16ULL << 33, [](auto cell, auto) { atomicAdd(cell, 1ULL << 33); }}});
  expect_atomics<unsigned short>({{"atomicCAS", 0, 16, [](auto cell, auto) {
                                     swap_until_it_is_ours(cell, [](unsigned short seen) {
                                       return static_cast<unsigned short>(seen + 1);
                                     });
                                   }}});
  expect_atomics<float>({{"atomicAdd", 0, 8, [](auto cell, auto) { atomicAdd(cell, 0.5F); }},
                         {"atomicExch", 0, 2.5F, [](auto cell, auto) { atomicExch(cell, 2.5F); }}});
  expect_atomics<double>({{"atomicAdd", 0, 4, [](auto cell, auto) { atomicAdd(cell, 0.25); }}});
  expect_atomics<float2>(
      {{"atomicAdd", {}, {16, 32}, [](auto cell, auto) { atomicAdd(cell, make_float2(1, 2)); }}});
  expect_atomics<float4>({{"atomicAdd", {}, {16, 32, 48, 64}, [](auto cell, auto) {
                             atomicAdd(cell, make_float4(1, 2, 3, 4));
                           }}});
  expect_atomics<uint4>({{"atomicExch_block", {}, {1, 2, 3, 15}, [](auto cell, auto i) {
                            atomicExch_block(cell, make_uint4(1, 2, 3, i));
                          }}});
  expect_atomics<half>(
      {{"atomicAdd", 0, 8, [](auto cell, auto) { atomicAdd(cell, half{0.5F}); }},
       {"atomicAdd_system", 0, 4, [](auto cell, auto) { atomicAdd_system(cell, half{0.25F}); }}});
  expect_atomics<half2>(
      {{"atomicAdd", {}, {16, 32}, [](auto cell, auto) { atomicAdd(cell, make_half2(1, 2)); }},
       {"atomicAdd_block", {}, {48, 64}, [](auto cell, auto) { atomicAdd_block(cell, make_half2(3, 4)); }}});
  expect_atomics<nv_bfloat16>(
      {{"atomicAdd", 0, 16, [](auto cell, auto) { atomicAdd(cell, nv_bfloat16{1}); }},
       {"atomicAdd_block", 0, 32, [](auto cell, auto) { atomicAdd_block(cell, nv_bfloat16{2}); }}});
  expect_atomics<Counted>({{"atomicCAS", {}, {15 * 16 / 2, 16}, [](auto cell, auto) {
                              swap_until_it_is_ours(cell, [](const Counted& seen) {
                                return Counted{seen.sum + threadIdx.x, seen.changes + 1};
                              });
                            }}});
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
