/// What CUDA C++ has beyond loads, stores and barriers means on the emulated device what it means on a GPU. All values are
/// computed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "device/dialect.cuh"
#include "device_array.hpp"

namespace {

using reduction::emulated::finding_of;
using reduction::emulated::last_launch_counters;

template <typename T> using Array = reduction::emulated::DeviceArray<T>;

// ---- atomic operations ----

template <typename T> __global__ void update_whole_numbers(T* cells) {
  const T i = static_cast<T>(threadIdx.x);
  atomicExch(&cells[0], T{7});
  atomicMin(&cells[1], i + 3);
  atomicMax(&cells[2], i + 3);
  atomicAnd(&cells[3], static_cast<T>(~T{1} << threadIdx.x));
  atomicOr(&cells[4], static_cast<T>(T{1} << threadIdx.x));
  atomicXor(&cells[5], i);
  atomicCAS(&cells[6], i, i + 1);  // threads run in ascending order: each finds what the one before has left
}

template <typename T> void expect_whole_numbers() {
  Array<T> cells{7};
  cells[1] = 1000;
  cells[3] = static_cast<T>(~T{0});
  EXPECT_EQ(finding_of([&] { update_whole_numbers<T><<<1, 16>>>(cells); }), "");
  EXPECT_EQ(cells[0], T{7});
  EXPECT_EQ(cells[1], T{3});
  EXPECT_EQ(cells[2], T{18});
  EXPECT_EQ(cells[3], static_cast<T>(~T{0} << 16)) << "bits 0 to 15 are gone";
  EXPECT_EQ(cells[4], T{0xffff});
  EXPECT_EQ(cells[5], T{0}) << "0 ^ 1 ^ ... ^ 15";
  EXPECT_EQ(cells[6], T{16});
  EXPECT_EQ(last_launch_counters().atomics, 7U * 16);
}

TEST(Atomics, OfWholeNumbers) {
  expect_whole_numbers<int>();
  expect_whole_numbers<unsigned>();
  expect_whole_numbers<unsigned long long>();
}

__global__ void update_signed(long long* cells) {
  const long long i = threadIdx.x;
  atomicMin(&cells[0], -i);
  atomicMax(&cells[1], i - 40);
  atomicAnd(&cells[2], ~(1LL << (32 + i)));
  atomicOr(&cells[3], 1LL << (32 + i));
  atomicXor(&cells[4], -1LL);
}

TEST(Atomics, OfLongLong) {
  Array<long long> cells{5};
  cells[1] = -100;
  cells[2] = -1;
  EXPECT_EQ(finding_of([&] { update_signed<<<1, 31>>>(cells); }), "");
  EXPECT_EQ(cells[0], -30);
  EXPECT_EQ(cells[1], -10);
  EXPECT_EQ(cells[2], static_cast<long long>(0x80000000FFFFFFFF));
  EXPECT_EQ(cells[3], 0x7FFFFFFF00000000);
  EXPECT_EQ(cells[4], -1) << "an odd number of inversions";
}

__global__ void add_and_subtract(int* whole, unsigned* natural, unsigned long long* large, float* single,
                                 double* twice, unsigned* turns, float* exchanged) {
  atomicAdd(whole, -2);
  atomicSub(whole + 1, 3);
  atomicAdd(natural, 1);
  atomicSub(natural + 1, 1);
  atomicAdd(large, 1ULL << 33);
  atomicAdd(single, 0.5F);
  atomicAdd(twice, 0.25);
  atomicInc(turns, 4);
  atomicDec(turns + 1, 4);
  atomicExch(exchanged, 2.5F);
}

TEST(Atomics, AddSubtractAndCountInTurns) {
  Array<int> whole{2};
  Array<unsigned> natural{2};
  Array<unsigned long long> large{1};
  Array<float> single{1};
  Array<double> twice{1};
  Array<unsigned> turns{2};
  Array<float> exchanged{1};
  whole[0] = std::numeric_limits<int>::min();
  EXPECT_EQ(finding_of(
                [&] { add_and_subtract<<<2, 32>>>(whole, natural, large, single, twice, turns, exchanged); }),
            "");
  EXPECT_EQ(whole[0], std::numeric_limits<int>::max() - 127) << "it wraps around";
  EXPECT_EQ(whole[1], -192);
  EXPECT_EQ(natural[0], 64U);
  EXPECT_EQ(natural[1], 0xFFFFFFC0U);
  EXPECT_EQ(large[0], 64ULL << 33);
  EXPECT_EQ(single[0], 32.0F);
  EXPECT_EQ(twice[0], 16.0);
  EXPECT_EQ(turns[0], 4U) << "64 steps through 0, 1, 2, 3, 4";
  EXPECT_EQ(turns[1], 1U) << "64 steps through 0, 4, 3, 2, 1";
  EXPECT_EQ(exchanged[0], 2.5F);
}

__global__ void update_within_scopes(int* cell, unsigned short* half_word) {
  atomicAdd_block(&cell[blockIdx.x], 1);
  atomicMax_system(&cell[2], static_cast<int>(blockIdx.x));
  unsigned short seen = 0;
  while (true) {
    const unsigned short before = atomicCAS(half_word, seen, static_cast<unsigned short>(seen + 1));
    if (before == seen) break;
    seen = before;
  }
}

TEST(Atomics, HaveFormsForABlockAndForTheSystemAndSwapHalfWords) {
  Array<int> cell{3};
  Array<unsigned short> half_word{2};
  half_word[1] = 77;
  EXPECT_EQ(finding_of([&] { update_within_scopes<<<2, 32>>>(cell, half_word); }), "");
  EXPECT_EQ(cell[0], 32);
  EXPECT_EQ(cell[1], 32);
  EXPECT_EQ(cell[2], 1);
  EXPECT_EQ(half_word[0], 64);
  EXPECT_EQ(half_word[1], 77) << "its neighbour";
}

__global__ void add_vectors(float2* two, float4* four) {
  atomicAdd(two, make_float2(1, 2));
  atomicAdd(four, make_float4(1, 2, 3, 4));
}

TEST(Atomics, AddVectors) {
  Array<float2> two{1};
  Array<float4> four{1};
  EXPECT_EQ(finding_of([&] { add_vectors<<<1, 32>>>(two, four); }), "");
  EXPECT_EQ(two[0].x, 32.0F);
  EXPECT_EQ(two[0].y, 64.0F);
  EXPECT_EQ(four[0].x, 32.0F);
  EXPECT_EQ(four[0].w, 128.0F);
}

/// As many students write it: CUDA has no such function of float.
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

extern __shared__ int bins[];

__global__ void greatest(const float* in, float* out, int* sum) {
  __shared__ float most;
  if (threadIdx.x == 0) bins[0] = 0;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  atomicAdd(bins, 1);
  if (in[threadIdx.x] == 5) atomicMax(&most, in[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = most;
  if (threadIdx.x == 0) sum[0] = bins[0];
}

TEST(Atomics, LeaveRoomForOverloadsOfTheKernelsOwn) {
  Array<float> in{64};
  Array<float> out{1};
  Array<int> sum{1};
  in[9] = 5;
  EXPECT_EQ(finding_of([&] { greatest<<<1, 64, sizeof(int)>>>(in, out, sum); }), "");
  EXPECT_EQ(out[0], 5.0F);
  EXPECT_EQ(sum[0], 64) << "an array in dynamic shared memory that is declared outside of functions";
}

// ---- votes ----

__global__ void vote(unsigned* out) {
  const unsigned lane = threadIdx.x;
  out[0 * 32 + lane] = __ballot_sync(0xffffffff, lane % 3 == 0);
  out[1 * 32 + lane] = static_cast<unsigned>(__any_sync(0xffffffff, lane == 31));
  out[2 * 32 + lane] = static_cast<unsigned>(__all_sync(0xffffffff, lane < 31));
  out[3 * 32 + lane] = __match_any_sync(0xffffffff, lane / 10);
  int is_same = 2;
  out[4 * 32 + lane] = __match_all_sync(0xffffffff, 1.5, &is_same);
  out[5 * 32 + lane] = static_cast<unsigned>(is_same);
  out[6 * 32 + lane] = __match_all_sync(0xffffffff, lane / 31, &is_same);
  out[7 * 32 + lane] = static_cast<unsigned>(is_same);
}

TEST(Votes, OfAWarp) {
  Array<unsigned> out{8 * 32};
  EXPECT_EQ(finding_of([&] { vote<<<1, 32>>>(out); }), "");
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[lane], 0x49249249U);
    EXPECT_EQ(out[32 + lane], 1U);
    EXPECT_EQ(out[64 + lane], 0U);
    EXPECT_EQ(out[96 + lane], lane < 10   ? 0x3FFU
                              : lane < 20 ? 0x3FFU << 10
                              : lane < 30 ? 0x3FFU << 20
                                          : 3U << 30);
    EXPECT_EQ(out[128 + lane], 0xFFFFFFFFU);
    EXPECT_EQ(out[160 + lane], 1U);
    EXPECT_EQ(out[192 + lane], 0U);
    EXPECT_EQ(out[224 + lane], 0U);
  }
  EXPECT_EQ(last_launch_counters().shuffles, 0U) << "votes are no shuffles";
}

__global__ void vote_in_halves(unsigned* out) {
  const unsigned lane = threadIdx.x;
  if (lane < 16) {
    out[lane] = __ballot_sync(0xffff, lane % 2);
  } else {
    out[lane] = __ballot_sync(0xffff0000, lane % 2 == 0);
  }
}

__global__ void vote_in_part(unsigned* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __ballot_sync(0xffffffff, 1);
  __syncwarp();
}

__global__ void vote_differently(int* out) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = __any_sync(0xffffffff, 1);
  } else {
    out[threadIdx.x] = __all_sync(0xffffffff, 1);
  }
}

TEST(Votes, TakeAllLanesOfTheMaskToTheSameFunction) {
  Array<unsigned> out{32};
  Array<int> other{32};
  EXPECT_EQ(finding_of([&] { vote_in_halves<<<1, 32>>>(out); }), "");
  EXPECT_EQ(out[0], 0xAAAAU);
  EXPECT_EQ(out[31], 0x55550000U);
  std::string text = finding_of([&] { vote_in_part<<<1, 32>>>(out); });
  EXPECT_TRUE(text.starts_with("deadlock in vote_in_part: block 0, threads 0-15 wait at a vote")) << text;
  text = finding_of([&] { vote_differently<<<1, 32>>>(other); });
  EXPECT_TRUE(text.starts_with("deadlock in vote_differently: block 0, threads 0-15 wait at a vote")) << text;
}

__global__ void reduce_in_warps(int* out, unsigned* natural) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int sum = __reduce_add_sync(0xffffffff, lane - 16);
  const int least = __reduce_min_sync(0xffffffff, lane - 16);
  const int greatest = __reduce_max_sync(0xffffffff, lane - 16);
  const unsigned all = __reduce_and_sync(0xffffffff, ~(1U << lane));
  const unsigned any = __reduce_or_sync(0xffffffff, lane % 2 ? 1U << lane : 0U);
  const unsigned odd = __reduce_xor_sync(0xffffffff, static_cast<unsigned>(lane) + 1);
  const unsigned largest = __reduce_max_sync(0xffffffff, static_cast<unsigned>(lane - 16));
  if (lane != 7) return;
  out[0] = sum;
  out[1] = least;
  out[2] = greatest;
  natural[0] = all;
  natural[1] = any;
  natural[2] = odd;
  natural[3] = largest;
}

TEST(Votes, ReduceWholeNumbers) {
  Array<int> out{3};
  Array<unsigned> natural{4};
  EXPECT_EQ(finding_of([&] { reduce_in_warps<<<1, 32>>>(out, natural); }), "");
  EXPECT_EQ(out[0], -16);
  EXPECT_EQ(out[1], -16);
  EXPECT_EQ(out[2], 15);
  EXPECT_EQ(natural[0], 0U);
  EXPECT_EQ(natural[1], 0xAAAAAAAAU);
  EXPECT_EQ(natural[2], 32U) << "1 ^ 2 ^ ... ^ 31 is 0";
  EXPECT_EQ(natural[3], 0xFFFFFFFFU) << "-1 as it is without a sign";
}

__global__ void count_on_the_way(unsigned* even, unsigned* odd, int* counter) {
  const unsigned lane = threadIdx.x % 32;
  if (lane % 2 == 0) {
    even[threadIdx.x] = __activemask();
  } else if (lane < 8) {
    odd[threadIdx.x] = __activemask();
    // One atomic for all of them.
    const unsigned active = __activemask();
    if (lane == static_cast<unsigned>(__ffs(static_cast<int>(active)) - 1))
      atomicAdd(counter, __popc(active));
    __syncwarp(active);
  }
  __syncthreads();
}

TEST(Votes, KnowWhoIsActive) {
  Array<unsigned> even{64};
  Array<unsigned> odd{64};
  Array<int> counter{1};
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    reduction::emulated::set_schedule({reduction::emulated::Order::random, seed});
    counter[0] = 0;
    EXPECT_EQ(finding_of([&] { count_on_the_way<<<1, 64>>>(even, odd, counter); }), "");
    EXPECT_EQ(even[0], 0x55555555U);
    EXPECT_EQ(even[62], 0x55555555U);
    EXPECT_EQ(odd[7], 0xAAU);
    EXPECT_EQ(counter[0], 8);
  }
  reduction::emulated::set_schedule({});
}

__global__ void count_in_block(int* out) {
  const int tid = static_cast<int>(threadIdx.x);
  out[3 * tid] = __syncthreads_count(tid % 3 == 0);
  out[3 * tid + 1] = __syncthreads_and(tid < 64);
  out[3 * tid + 2] = __syncthreads_and(tid < 63);
  __nanosleep(100);
  __threadfence_block();
  __threadfence_system();
}

TEST(Votes, OfABlock) {
  Array<int> out{3 * 64};
  EXPECT_EQ(finding_of([&] { count_in_block<<<1, 64>>>(out); }), "");
  EXPECT_EQ(out[0], 22);
  EXPECT_EQ(out[3 * 63], 22);
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(out[2], 0);
  EXPECT_EQ(last_launch_counters().block_barriers, 3U);
}

}  // namespace
