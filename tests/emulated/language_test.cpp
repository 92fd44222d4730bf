/// What CUDA C++ has beyond loads, stores and barriers means on the emulated device what it means on a GPU. All values are
/// computed by hand.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cassert>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <limits>
#include <random>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/language/complex.hpp"

namespace {

using __emulated::finding_of;
using __emulated::last_launch_counters;

template <typename T> using Array = __emulated::DeviceArray<T>;

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

/// A number and how often it was changed, in one word.
struct alignas(16) Counted {
  double sum;
  std::uint64_t changes;
};

__global__ void update_sixteen_bytes(Counted* total, uint4* last) {
  __shared__ Counted in_block;
  if (threadIdx.x == 0) in_block = {0, 0};
  __syncthreads();
  for (Counted* const cell : {total, &in_block}) {
    Counted seen{0, 0};
    while (true) {
      const Counted before = atomicCAS(cell, seen, Counted{seen.sum + threadIdx.x, seen.changes + 1});
      if (before.changes == seen.changes && before.sum == seen.sum) break;
      seen = before;
    }
  }
  atomicExch_block(last, make_uint4(1, 2, 3, threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) total[1] = in_block;
}

TEST(Atomics, OfSixteenBytes) {
  Array<Counted> total{2};
  Array<uint4> last{1};
  total[0] = {};
  last[0] = make_uint4(0, 0, 0, 0);
  EXPECT_EQ(finding_of([&] { update_sixteen_bytes<<<1, 64>>>(total, last); }), "");
  for (const Counted& sum : {total[0], total[1]}) {
    EXPECT_EQ(sum.sum, 63 * 64 / 2);
    EXPECT_EQ(sum.changes, 64U);
  }
  EXPECT_EQ(last[0].x, 1U);
  EXPECT_EQ(last[0].w, 63U);
}

__global__ void race_with_sixteen_bytes(Counted* total) {
  if (threadIdx.x == 0) atomicExch(total, Counted{1, 2});
  if (threadIdx.x == 40) total->changes = 3;
}

TEST(Atomics, OfSixteenBytesRaceInEachOfThem) {
  Array<Counted> total{1};
  total[0] = {};
  const std::string text = finding_of([&] { race_with_sixteen_bytes<<<1, 64>>>(total); });
  EXPECT_TRUE(text.starts_with("race in race_with_sixteen_bytes: ")) << text;
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
    __emulated::set_schedule({__emulated::Order::random, seed});
    counter[0] = 0;
    EXPECT_EQ(finding_of([&] { count_on_the_way<<<1, 64>>>(even, odd, counter); }), "");
    EXPECT_EQ(even[0], 0x55555555U);
    EXPECT_EQ(even[62], 0x55555555U);
    EXPECT_EQ(odd[7], 0xAAU);
    EXPECT_EQ(counter[0], 8);
  }
  __emulated::set_schedule({});
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

// ---- functions of one thread ----

__global__ void count_bits(unsigned* out) {
  out[0] = static_cast<unsigned>(__popc(0xF0F0U) + __popcll(~0ULL));
  out[1] = static_cast<unsigned>(__ffs(0) + __ffs(8) + __ffsll(1LL << 40));
  out[2] = static_cast<unsigned>(__clz(0) + __clz(1) + __clzll(1));
  out[3] = __brev(1) + __brev(0x40000000);
  out[4] = static_cast<unsigned>(__brevll(2) >> 32);
  out[5] = __byte_perm(0x33221100, 0x77665544, 0x7610);
  out[6] = __funnelshift_l(0x80000000, 1, 1) + __funnelshift_r(1, 2, 1);
  out[7] = __umulhi(1U << 31, 6) + static_cast<unsigned>(__mulhi(-1, 1)) + 1;
  out[8] = __float2uint_rn(-3.0F) + __float2uint_rn(2.5F) + __float2uint_ru(2.1F);
  out[9] = static_cast<unsigned>(__float2int_rn(1e20F));
  out[10] = static_cast<unsigned>(__float2int_rz(-2.7F) + __float2int_rd(-2.1F) + 10);
  out[11] = __float_as_uint(__int_as_float(0x3F800000) + 1.0F);
  out[12] = static_cast<unsigned>(min(3, 4) + max(3U, 4U) + abs(-5) + static_cast<int>(abs(-1.5F) * 2));
  out[13] = static_cast<unsigned>(rsqrtf(4.0F) * 8 + __fmaf_rn(2, 3, 4) + __saturatef(7.0F));
  out[14] = static_cast<unsigned>(__mul24(-3, 5) + 20) + __umul24(1U << 24 | 3, 2);
  out[15] = umin(3, 0xFFFFFFFF) + umax(4, 0x80000000);
  out[16] = static_cast<unsigned>(llmin(-1, 1LL << 40) + llmax(-1, 1LL << 40) + 2 - (1LL << 40));
  out[17] = static_cast<unsigned>(ullmin(5, ~0ULL) + (ullmax(0, 1ULL << 63) >> 60));
}

TEST(Intrinsics, OfOneThread) {
  Array<unsigned> out{18};
  EXPECT_EQ(finding_of([&] { count_bits<<<1, 1>>>(out); }), "");
  const unsigned expected[] = {8 + 64,        0 + 4 + 41, 32 + 31 + 63, 0x80000002, 0x40000000, 0x77661100,
                               3 + 0,         3,          0 + 2 + 3,    0x7FFFFFFF, 5,          0x40000000,
                               3 + 4 + 5 + 3, 4 + 10 + 1, 5 + 6,        0x80000003, 1,          5 + 8};
  for (std::size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(out[i], expected[i]) << i;
}

/// The results of all functions of words of several integers, for words that say which part is which.
__global__ void combine_parts(const unsigned* in, unsigned* out) {
  const unsigned a = in[0], b = in[1];
  const int signed_a = static_cast<int>(a), signed_b = static_cast<int>(b);
  out[0] = __vmins2(a, b);
  out[1] = __vmaxs2(a, b);
  out[2] = __vminu2(a, b);
  out[3] = __vmaxu2(a, b);
  out[4] = __vmins4(a, b);
  out[5] = __vmaxs4(a, b);
  out[6] = __vminu4(a, b);
  out[7] = __vmaxu4(a, b);
  out[8] = __dp4a(a, b, 1U);
  out[9] = static_cast<unsigned>(__dp4a(signed_a, signed_b, 1));
  out[10] = __dp2a_lo(a, b, 1U);
  out[11] = static_cast<unsigned>(__dp2a_lo(signed_a, signed_b, 1));
  out[12] = __dp2a_hi(a, b, 1U);
  out[13] = static_cast<unsigned>(__dp2a_hi(signed_a, signed_b, 1));
  out[14] = __dp4a(a, b, 0xFFFFFFFF);
}

TEST(Intrinsics, OfWordsOfSeveralIntegers) {
  Array<unsigned> in{2};
  Array<unsigned> out{15};
  in[0] = 0xFF017F80;
  in[1] = 0x02FE8001;
  EXPECT_EQ(finding_of([&] { combine_parts<<<1, 1>>>(in, out); }), "");
  const unsigned bytes = 0xFF * 0x02 + 0x01 * 0xFE + 0x7F * 0x80 + 0x80 * 0x01;
  const int signed_bytes = -1 * 2 + 1 * -2 + 127 * -128 + -128 * 1;
  const unsigned expected[] = {0xFF018001,
                               0x02FE7F80,
                               0x02FE7F80,
                               0xFF018001,
                               0xFFFE8080,
                               0x02017F01,
                               0x02017F01,
                               0xFFFE8080,
                               bytes + 1,
                               static_cast<unsigned>(signed_bytes + 1),
                               0x7F80 * 0x01 + 0xFF01 * 0x80 + 1,
                               static_cast<unsigned>(0x7F80 * 1 + -0xFF * -128 + 1),
                               0x7F80 * 0xFE + 0xFF01 * 0x02 + 1,
                               static_cast<unsigned>(0x7F80 * -2 + -0xFF * 2 + 1),
                               bytes - 1};
  for (std::size_t i = 0; i < std::size(expected); ++i)
    EXPECT_EQ(out[i], expected[i]) << i;
}

__global__ void load_and_store_with_hints(const float4* in, float4* out, volatile int* seen) {
  const unsigned i = threadIdx.x;
  __stcs(&out[i], __ldg(&in[i]));
  __stcg(&out[i], __ldcs(&in[i]));
  seen[i] = seen[i] + 1;
}

TEST(Intrinsics, OfLoadsAndStoresAreLoadsAndStores) {
  Array<float4> in{32};
  Array<float4> out{32};
  Array<int> seen{32};
  in[31] = make_float4(1, 2, 3, 4);
  EXPECT_EQ(finding_of([&] { load_and_store_with_hints<<<1, 32>>>(in, out, seen); }), "");
  EXPECT_EQ(out[31].w, 4.0F);
  EXPECT_EQ(last_launch_counters().global_load_requests, 3U);
  EXPECT_EQ(last_launch_counters().global_load_sectors, 2U * 16 + 4);
  EXPECT_EQ(last_launch_counters().global_store_requests, 3U);
}

// ---- types ----

static_assert(sizeof(char2) == 2 && alignof(char2) == 2 && sizeof(uchar4) == 4 && alignof(uchar4) == 4);
static_assert(sizeof(short2) == 4 && alignof(short2) == 4 && sizeof(ushort4) == 8 && alignof(ushort4) == 8);
static_assert(sizeof(char3) == 3 && alignof(char3) == 1 && sizeof(float3) == 12 && alignof(float3) == 4);
static_assert(sizeof(int1) == 4 && sizeof(longlong2) == 16 && alignof(longlong2) == 16);
static_assert(sizeof(double4) == 32 && alignof(double4) == 16 && sizeof(double3) == 24);
static_assert(sizeof(half) == 2 && sizeof(half2) == 4 && alignof(half2) == 4 && sizeof(__nv_bfloat16) == 2);

template <typename T> __global__ void copy(const T* in, T* out) {
  __shared__ T tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[63 - threadIdx.x] = tile[threadIdx.x];
}

/// Copies 64 elements and compares the number of global load requests and sectors.
template <typename T> void expect_copied(const T& last, std::size_t requests, std::size_t sectors) {
  Array<T> in{64};
  Array<T> out{64};
  in[63] = last;
  EXPECT_EQ(finding_of([&] { copy<T><<<1, 64>>>(in, out); }), "");
  EXPECT_EQ(std::memcmp(&out[0], &last, sizeof(T)), 0);
  EXPECT_EQ(last_launch_counters().global_load_requests, requests) << sizeof(T);
  EXPECT_EQ(last_launch_counters().global_load_sectors, sectors) << sizeof(T);
  EXPECT_EQ(last_launch_counters().global_store_requests, requests) << sizeof(T);
}

TEST(Types, AreLoadedAsTheirAlignmentAllows) {
  expect_copied(static_cast<signed char>(7), 2, 2);
  expect_copied(short{7}, 2, 4);
  expect_copied(half{7}, 2, 4);
  expect_copied(__nv_bfloat16{7}, 2, 4);
  expect_copied(make_char2(1, 2), 2, 4);
  expect_copied(make_uchar4(1, 2, 3, 4), 2, 8);
  expect_copied(make_half2(1, 2), 2, 8);
  expect_copied(make_short4(1, 2, 3, 4), 2, 16);
  expect_copied(make_float2(1, 2), 2, 16);
  expect_copied(make_double2(1, 2), 2, 32);
  // Three loads per warp, each of which touches all the sectors.
  expect_copied(make_char3(1, 2, 3), 3 * 2, 3 * 6);
  expect_copied(make_short3(1, 2, 3), 3 * 2, 3 * 12);
  expect_copied(make_float3(1, 2, 3), 3 * 2, 3 * 24);
  expect_copied(make_double3(1, 2, 3), 3 * 2, 3 * 48);
  expect_copied(make_double4(1, 2, 3, 4), 2 * 2, 2 * 64);
}

TEST(Types, AreMadeOfTheirElements) {
  EXPECT_EQ(make_uint3(1, 2, 3).z, 3U);
  EXPECT_EQ(make_ulonglong2(1, 2).y, 2ULL);
  EXPECT_EQ(make_long4(1, 2, 3, 4).w, 4);
  EXPECT_EQ(make_int1(5).x, 5);
  EXPECT_EQ(dim3(make_uint3(4, 5, 6)).y, 5U);
}

TEST(Half, RoundsToTheNearestEvenNumber) {
  const auto bits = [](float value) { return __half_as_ushort(__float2half(value)); };
  EXPECT_EQ(bits(1.0F), 0x3C00);
  EXPECT_EQ(bits(-2.0F), 0xC000);
  EXPECT_EQ(bits(65504.0F), 0x7BFF);
  EXPECT_EQ(bits(65519.9F), 0x7BFF);
  EXPECT_EQ(bits(65520.0F), 0x7C00) << "infinity";
  EXPECT_EQ(bits(1.0F + 0x1p-11F), 0x3C00) << "a tie, to the even one below";
  EXPECT_EQ(bits(1.0F + 3 * 0x1p-11F), 0x3C02) << "and above";
  EXPECT_EQ(bits(0x1p-24F), 0x0001) << "the least number";
  EXPECT_EQ(bits(0x1p-25F), 0x0000);
  EXPECT_EQ(bits(0x1.8p-25F), 0x0001);
  EXPECT_EQ(bits(0x1.ffep-15F), 0x0400) << "what is below 2^-14 rounds up to it";
  EXPECT_EQ(bits(std::numeric_limits<float>::quiet_NaN()), 0x7FFF);
  EXPECT_EQ(__half_as_ushort(__double2half(1 + 0x1p-11 + 0x1p-40)), 0x3C01) << "rounded once";
  // Every number is itself again.
  for (unsigned number = 0; number < 0x10000; ++number) {
    const half value = __ushort_as_half(static_cast<unsigned short>(number));
    if (!__hisnan(value)) {
      EXPECT_EQ(bits(__half2float(value)), number);
    }
  }
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0F)), 0x3F80);
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0F + 0x1p-8F)), 0x3F80);
  EXPECT_EQ(__bfloat16_as_ushort(__float2bfloat16(1.0F + 3 * 0x1p-8F)), 0x3F82);
  EXPECT_EQ(__bfloat162float(__ushort_as_bfloat16(0xC040)), -3.0F);
}

/// The number of a format, m * 2^e rounded once to the nearest even one, in whole numbers; 0 < m < 2^126.
template <typename T> struct Digits;
template <> struct Digits<half> { static constexpr int count = 11, least_exponent = -24, end_exponent = 16; };
template <> struct Digits<nv_bfloat16> {
  static constexpr int count = 8, least_exponent = -133, end_exponent = 128;
};
__extension__ using Whole = __int128;
int digits_of(Whole m) {
  int digits = 0;
  for (; m != 0; m >>= 1)
    ++digits;
  return digits;
}
template <typename T> T rounded_once(Whole m, int e) {
  if (m == 0) return 0.0F;
  const bool is_negative = m < 0;
  if (is_negative) m = -m;
  const int step = std::max(digits_of(m) + e - Digits<T>::count, Digits<T>::least_exponent);
  const int dropped = step - e;
  Whole kept = dropped <= 0 ? m << -dropped : dropped > 126 ? 0 : m >> dropped;
  if (dropped > 0 && dropped <= 126) {
    const Whole rest = m - (kept << dropped);
    const Whole tie = Whole{1} << (dropped - 1);
    if (rest > tie || (rest == tie && kept % 2 != 0)) ++kept;
  }
  const double value = std::ldexp(static_cast<double>(kept), step);
  const float result = value < std::ldexp(1.0, Digits<T>::end_exponent)
                           ? static_cast<float>(value)
                           : std::numeric_limits<float>::infinity();
  return is_negative ? -result : result;
}

/// A finite number is m * 2^e.
struct Parts {
  Whole m;
  int e;
};
template <typename T> Parts parts_of(T number) {
  int exponent = 0;
  const float fraction = std::frexp(static_cast<float>(number), &exponent);
  return {static_cast<Whole>(std::ldexp(fraction, 24)), exponent - 24};
}

/// a * b + c. Where one of the two is too small to reach the other's digits, only its sign matters.
template <typename T> T exact_fma(T a, T b, T c) {
  Parts big{parts_of(a).m * parts_of(b).m, parts_of(a).e + parts_of(b).e};
  Parts small = parts_of(c);
  if (big.m == 0 || (small.m != 0 && digits_of(big.m < 0 ? -big.m : big.m) + big.e <
                                         digits_of(small.m < 0 ? -small.m : small.m) + small.e))
    std::swap(big, small);
  if (big.m == 0) return static_cast<float>(a) * static_cast<float>(b) + static_cast<float>(c);
  big.m <<= 60;
  big.e -= 60;
  if (small.e < big.e) {
    const int away = big.e - small.e;
    const Whole kept = away < 120 ? small.m >> away : small.m < 0 ? -1 : 0;
    const bool is_whole = away < 120 ? kept << away == small.m : small.m == 0;
    // One bit more, which says that there is something below.
    return rounded_once<T>(2 * (big.m + kept) + (is_whole ? 0 : 1), big.e - 1);
  }
  return rounded_once<T>(big.m + (small.m << (small.e - big.e)), big.e);
}

template <typename T> void expect_roundings_of_one() {
  std::mt19937_64 random{1};
  const auto number = [&] { return T::of_bits(static_cast<std::uint16_t>(random())); };
  const auto is_finite = [](T value) { return std::isfinite(static_cast<float>(value)); };
  const auto expect_fma = [&](T a, T b, T c) {
    if (!is_finite(a) || !is_finite(b) || !is_finite(c)) return;
    const T expected = exact_fma(a, b, c);
    const T sum = __hfma(a, b, c);
    ASSERT_TRUE(sum == expected) << static_cast<float>(a) << " * " << static_cast<float>(b) << " + "
                                 << static_cast<float>(c) << " is " << static_cast<float>(expected)
                                 << ", not " << static_cast<float>(sum);
  };
  for (int i = 0; i < 300'000; ++i) {
    expect_fma(number(), number(), number());
    // Of like size, with the sum often between two numbers.
    const auto near_one = [&] {
      return T{std::ldexp(1 + static_cast<float>(random() % 256) / 256, static_cast<int>(random() % 9) - 4)};
    };
    const T a = near_one();
    const T b = near_one();
    expect_fma(a, b, T{std::ldexp(random() % 2 != 0 ? 1.0F : -1.0F, -static_cast<int>(random() % 130))});
    expect_fma(a, b, -(a * b));
    expect_fma(a, b, near_one());
  }
  for (int i = 0; i < 300'000; ++i) {
    const int shift = static_cast<int>(random() % 64);
    // Two to four bits: where they are far apart, the sum is just beside a tie.
    std::uint64_t few = 0;
    for (int bit = 0; bit < 2 + i % 3; ++bit)
      few |= std::uint64_t{1} << random() % 64;
    for (const std::uint64_t value : {random() >> shift, few, few - 1, ~few}) {
      ASSERT_TRUE(T{value} == rounded_once<T>(value, 0)) << value;
      const auto with_sign = static_cast<std::int64_t>(value);
      ASSERT_TRUE(T{with_sign} == rounded_once<T>(with_sign, 0)) << with_sign;
    }
  }
}

TEST(Half, RoundsSumsOfProductsAndIntegersOnce) {
  const nv_bfloat16 sum = __hfma(nv_bfloat16{9}, nv_bfloat16{29}, nv_bfloat16{0x1p-100F});
  EXPECT_EQ(__bfloat162float(sum), 262.0F) << "261 is in the middle of 260 and 262";
  EXPECT_EQ(__bfloat162float(__hfma(nv_bfloat16{9}, nv_bfloat16{29}, nv_bfloat16{-0x1p-100F})), 260.0F);
  EXPECT_EQ(__bfloat162float(nv_bfloat16{(1LL << 62) + (1LL << 54) + 1}), 0x1p62F + 0x1p55F);
  EXPECT_EQ(__bfloat162float(nv_bfloat16{~0ULL}), 0x1p64F);
  EXPECT_EQ(__bfloat162float(nv_bfloat16{std::numeric_limits<long long>::min()}), -0x1p63F);
  EXPECT_EQ(__bfloat162float(nv_bfloat16{-3}), -3.0F);
  EXPECT_EQ(__bfloat162float(nv_bfloat16{true}), 1.0F);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(__bfloat162float(__hfma(nv_bfloat16{infinity}, nv_bfloat16{2}, nv_bfloat16{1})), infinity);
  EXPECT_TRUE(__hisnan(__hfma(nv_bfloat16{infinity}, nv_bfloat16{2}, nv_bfloat16{-infinity})));
  expect_roundings_of_one<nv_bfloat16>();
  expect_roundings_of_one<half>();
}

__global__ void sum_halves(const half* in, half* out, half2* pair, __nv_bfloat16* brain) {
  half sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += in[threadIdx.x * 4 + i];
  for (int stride = 16; stride > 0; stride /= 2)
    sum = __hadd(sum, __shfl_down_sync(0xffffffff, sum, stride));
  if (threadIdx.x == 0) out[0] = sum;
  atomicAdd(&out[1], half{0.5F});
  atomicAdd(pair, __floats2half2_rn(1, 2));
  atomicAdd(brain, __float2bfloat16(1.0F));
  atomicAdd_block(&brain[1], __float2bfloat16(2.0F));
  atomicAdd_system(&out[2], half{0.25F});
  atomicAdd_block(&pair[2], __floats2half2_rn(3, 4));
  if (threadIdx.x == 0)
    pair[1] = __hfma2(make_half2(2, 3), make_half2(4, 5), make_half2(1, -1)) * make_half2(1, 2);
}

TEST(Half, IsAddedInKernels) {
  Array<half> in{128};
  Array<half> out{4};
  Array<half2> pair{3};
  Array<__nv_bfloat16> brain{2};
  std::fill(in.begin(), in.end(), half{2});
  EXPECT_EQ(finding_of([&] { sum_halves<<<1, 32>>>(in, out, pair, brain); }), "");
  EXPECT_EQ(__half2float(out[0]), 256.0F);
  EXPECT_EQ(__half2float(out[1]), 16.0F);
  EXPECT_EQ(__high2float(pair[0]), 64.0F);
  EXPECT_EQ(__low2float(pair[1]), 9.0F);
  EXPECT_EQ(__high2float(pair[1]), 28.0F);
  EXPECT_EQ(__bfloat162float(brain[0]), 32.0F);
  EXPECT_EQ(__bfloat162float(brain[1]), 64.0F);
  EXPECT_EQ(__half2float(out[2]), 8.0F);
  EXPECT_EQ(__high2float(pair[2]), 128.0F);
  EXPECT_TRUE(half{1} < half{2} && half{2} >= half{2} && -half{1} == half{-1} &&
              half{3} / half{2} == half{1.5F});
}

__global__ void extremes_of_halves(const half2* in, half2* out) {
  out[0] = __hmin2(in[0], in[1]);
  out[1] = __hmax2(in[0], in[1]);
  out[2] = __hmin2(in[2], in[3]);
  out[3] = __hmax2(in[2], in[3]);
}

/// Of a number and NaN the number, of two NaNs a positive one, and -0 is below +0.
TEST(Half, HasExtremesThatPassOverNaN) {
  Array<half2> in{4};
  Array<half2> out{4};
  const half nan = __ushort_as_half(0xFE00);
  in[0] = make_half2(3, nan);
  in[1] = make_half2(-4, 5);
  in[2] = make_half2(0, nan);
  in[3] = make_half2(-half{0}, nan);
  EXPECT_EQ(finding_of([&] { extremes_of_halves<<<1, 1>>>(in, out); }), "");
  EXPECT_EQ(out[0], make_half2(-4, 5));
  EXPECT_EQ(out[1], make_half2(3, 5));
  EXPECT_EQ(__half_as_ushort(__low2half(out[2])), 0x8000);
  EXPECT_EQ(__half_as_ushort(__low2half(out[3])), 0x0000);
  EXPECT_EQ(__half_as_ushort(__high2half(out[2])), 0x7FFF);
  EXPECT_EQ(__half_as_ushort(__high2half(out[3])), 0x7FFF);
}

// What the operators of C++ make of these numbers is one of them, too.
static_assert(std::is_same_v<decltype(half{1} + half{2}), half> && std::is_same_v<decltype(-half{1}), half>);
static_assert(std::is_same_v<decltype(half2{} * half2{}), half2> && std::is_trivially_copyable_v<half>);

TEST(Complex, HasTheOperatorsOfNumbers) {
  using Complex = __emulated::Complex<float>;
  const Complex a{1, 2};
  const Complex b{3, -4};
  EXPECT_EQ(a + b, (Complex{4, -2}));
  EXPECT_EQ(a - b, (Complex{-2, 6}));
  EXPECT_EQ(a * b, (Complex{11, 2}));
  EXPECT_EQ(Complex(11, 2) / b, a);
  EXPECT_EQ(-a, (Complex{-1, -2}));
  EXPECT_NE(a, b);
  EXPECT_EQ(static_cast<std::complex<float>>(b), (std::complex<float>{3, -4}));
  EXPECT_EQ(alignof(Complex), 8U);
}

// ---- cooperative groups ----

namespace cg = cooperative_groups;

__device__ int sum_of(const cg::thread_group& group, int* space, int value) {
  const unsigned rank = group.thread_rank();
  for (unsigned half_size = group.size() / 2; half_size > 0; half_size /= 2) {
    space[rank] = value;
    group.sync();
    if (rank < half_size) value += space[rank + half_size];
    group.sync();
  }
  return value;
}

__global__ void sum_in_groups(const int* in, int* out) {
  __shared__ int space[64];
  const cg::thread_block block = cg::this_thread_block();
  const int value = in[block.thread_rank()];
  const int of_block = sum_of(block, space, value);
  if (block.thread_rank() == 0) out[0] = of_block;
  const auto tile = cg::tiled_partition<16>(block);
  const int of_tile = sum_of(tile, space + tile.meta_group_rank() * tile.size(), value);
  if (tile.thread_rank() == 0) out[1 + tile.meta_group_rank()] = of_tile;
  const cg::thread_group part = cg::tiled_partition(block, 8);
  if (block.thread_rank() == 9) out[5] = static_cast<int>(10 * part.size() + part.thread_rank());
  if (block.thread_rank() == 63) out[6] = static_cast<int>(tile.meta_group_size() + cg::this_grid().size());
}

TEST(CooperativeGroups, AddInABlockAndInTiles) {
  Array<int> in{64};
  Array<int> out{7};
  for (int i = 0; i < 64; ++i)
    in[i] = i;
  EXPECT_EQ(finding_of([&] { sum_in_groups<<<1, dim3(8, 8)>>>(in, out); }), "");
  EXPECT_EQ(out[0], 2016);
  for (int tile = 0; tile < 4; ++tile)
    EXPECT_EQ(out[1 + tile], 16 * 16 * tile + 120);
  EXPECT_EQ(out[5], 81);
  EXPECT_EQ(out[6], 4 + 64);
  EXPECT_EQ(last_launch_counters().block_barriers, 12U);
  EXPECT_EQ(last_launch_counters().warp_barriers, 4U * 8);
}

__global__ void use_tiles(int* out, float* sums) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const auto pair = cg::tiled_partition<2>(tile);
  const int rank = static_cast<int>(tile.thread_rank());
  int* const mine = out + threadIdx.x * 10;
  mine[0] = tile.shfl(rank, 3);
  mine[1] = tile.shfl_down(rank, 2);
  mine[2] = tile.shfl_up(rank, 2);
  mine[3] = tile.shfl_xor(rank, 1);
  mine[4] = static_cast<int>(tile.ballot(rank % 2 == 0));
  mine[5] = tile.any(threadIdx.x == 20) + 2 * tile.all(threadIdx.x >= 8);
  mine[6] = cg::reduce(tile, rank, cg::plus<int>());
  mine[7] = cg::reduce(tile, rank - 4, cg::less<int>());
  mine[8] = cg::reduce(pair, rank, cg::greater<int>());
  mine[9] = static_cast<int>(cg::reduce(tile, 1U << rank, cg::bit_or<unsigned>()));
  sums[threadIdx.x] = cg::reduce(tile, 0.5F, cg::plus<float>());
  tile.sync();
}

TEST(CooperativeGroups, ShuffleVoteAndReduceInTiles) {
  Array<int> out{32 * 10};
  Array<float> sums{32};
  EXPECT_EQ(finding_of([&] { use_tiles<<<1, 32>>>(out, sums); }), "");
  for (int thread = 0; thread < 32; ++thread) {
    const int rank = thread % 8;
    const int expected[] = {3,
                            rank < 6 ? rank + 2 : rank,
                            rank < 2 ? rank : rank - 2,
                            rank ^ 1,
                            0x55,
                            (thread / 8 == 2 ? 1 : 0) + (thread >= 8 ? 2 : 0),
                            28,
                            -4,
                            rank | 1,
                            0xFF};
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(out[thread * 10 + i], expected[i]) << thread << ", " << i;
    EXPECT_EQ(sums[thread], 4.0F);
  }
  EXPECT_EQ(last_launch_counters().shuffles, 4U * (4 + 3)) << "whole numbers take none";
}

__global__ void add_once_for_all(const int* in, int* count, int* ranks) {
  if (in[threadIdx.x] % 3 == 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(count, static_cast<int>(active.size()));
    ranks[threadIdx.x] = active.shfl(first, 0) + static_cast<int>(active.thread_rank());
    if (cg::reduce(active, 1, cg::plus<int>()) != 11) ranks[threadIdx.x] = -1;
    if (active.ballot(active.thread_rank() < 4) != 15) ranks[threadIdx.x] = -1;
  }
}

TEST(CooperativeGroups, OfActiveThreads) {
  Array<int> in{32};
  Array<int> count{1};
  Array<int> ranks{32};
  for (int i = 0; i < 32; ++i)
    in[i] = i;
  EXPECT_EQ(finding_of([&] { add_once_for_all<<<1, 32>>>(in, count, ranks); }), "");
  EXPECT_EQ(count[0], 11);
  for (int i = 0; i < 11; ++i)
    EXPECT_EQ(ranks[3 * i], i);
  EXPECT_EQ(last_launch_counters().atomics, 1U);
}

__global__ void miss_a_barrier(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  if (block.thread_rank() < 16) block.sync();
  out[threadIdx.x] = 1;
}

TEST(CooperativeGroups, HaveBarriersThatCanBeMissed) {
  Array<int> out{32};
  const std::string text = finding_of([&] { miss_a_barrier<<<1, 32>>>(out); });
  EXPECT_TRUE(
      text.starts_with("missed barrier in miss_a_barrier: block 0, threads 0-15 wait at __syncthreads() at "
                       "emulated/language_test.cpp:"))
      << text;
}

// ---- constant memory ----

__constant__ int scale;
__constant__ float table[4] = {1, 2, 3, 4};
__constant__ const float fixed[2] = {0.5F, 0.25F};

__global__ void use_constants(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x] * static_cast<float>(scale) * table[threadIdx.x % 4] * fixed[0];
}

__global__ void store_constant() { table[2] = 1; }

TEST(Constants, AreReadWithoutLoadsOfGlobalMemoryAndNotWritten) {
  Array<float> in{32};
  Array<float> out{32};
  std::fill(in.begin(), in.end(), 1.0F);
  scale = 10;  // the host may
  EXPECT_EQ(finding_of([&] { use_constants<<<1, 32>>>(in, out); }), "");
  EXPECT_EQ(out[2], 15.0F);
  EXPECT_EQ(last_launch_counters().global_load_requests, 1U) << "of `in`";
  const std::string text = finding_of([] { store_constant<<<1, 1>>>(); });
  EXPECT_TRUE(
      text.starts_with("out of bounds in store_constant: block 0, thread 0 writes 4 bytes of a "
                       "__constant__ variable at emulated/language_test.cpp:"))
      << text;
}

// ---- launches whose kernel's template arguments are deduced ----

template <typename T, int factor = 2> __global__ void multiply(const T* in, T* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = in[i] * factor;
}

TEST(Launches, DeduceTheKernelsTemplateArguments) {
  Array<int> in{64};
  Array<int> out{64};
  in[63] = 21;
  const int* const from = in.begin();
  int* const to = out.begin();
  multiply<<<2, 32>>>(from, to, 63);
  EXPECT_EQ(out[63], 42);
  multiply<int, 3><<<2, 32>>>(from, to, 63);
  EXPECT_EQ(out[63], 63);
  const std::string text = finding_of([&] { multiply<<<3, 32>>>(from, to, 64); });
  EXPECT_TRUE(text.starts_with("out of bounds in multiply: block 2, thread 0 reads 4-byte word 64")) << text;
}

template <typename T> __global__ void fill(T*, int);

TEST(Launches, TakeATemplateThatIsDefinedLater) {
  Array<float> out{2};
  fill<<<1, 2>>>(out.begin(), 3);
  EXPECT_EQ(out[1], 3.0F);
  EXPECT_EQ(last_launch_counters().global_store_lanes, 2U);
}

template <typename T> __global__ void fill(T* out, int value) { out[threadIdx.x] = static_cast<T>(value); }

template <typename T> __global__ void put(T* out) { out[threadIdx.x] = 1; }
__global__ void put(float* out) { out[threadIdx.x] = 2; }
template <typename T> __global__ void put(T* out, T value) { out[threadIdx.x] = value; }

TEST(Launches, ChooseAmongKernelsAsACallDoes) {
  Array<int> whole{1};
  Array<float> single{1};
  put<<<1, 1>>>(whole.begin());
  put<<<1, 1>>>(single.begin());
  EXPECT_EQ(whole[0], 1);
  EXPECT_EQ(single[0], 2.0F);
  put<float><<<1, 1>>>(single.begin());
  EXPECT_EQ(single[0], 1.0F);
  put<<<1, 1>>>(whole.begin(), 3);
  EXPECT_EQ(whole[0], 3);
  const std::string text = finding_of([&] { put<<<1, 2>>>(single.begin()); });
  EXPECT_TRUE(text.starts_with("out of bounds in put: block 0, thread 1 writes 4-byte word 1")) << text;
}

struct Evaluations {
  int count = 0;
  int next() { return ++count; }
};

__global__ void add_all(int* out, unsigned n = 2, double factor = 1.5, const int* weights = nullptr) {
  out[threadIdx.x] += static_cast<int>(n * factor) + (weights == nullptr ? 0 : weights[0]);
}

TEST(Launches, TakeDefaultArgumentsAndConvertTheOthersOnce) {
  Array<int> out{1};
  Evaluations evaluations;
  add_all<<<1, 1>>>(out);
  EXPECT_EQ(out[0], 3);
  add_all<<<1, 1>>>(out, evaluations.next() + 3);
  EXPECT_EQ(out[0], 3 + 6);
  EXPECT_EQ(evaluations.count, 1);
  add_all<<<1, 1>>>(out, 1, {10}, NULL);
  EXPECT_EQ(out[0], 3 + 6 + 10);
}

// ---- memory of kernels ----

struct Node {
  int value;
  Node* next;
};

__global__ void build_list(Node** lists, int length) {
  Node* first = nullptr;
  for (int i = 0; i < length; ++i) {
    Node* const node = new Node;
    node->value = i;
    node->next = first;
    first = node;
  }
  lists[blockIdx.x * blockDim.x + threadIdx.x] = first;
}

__global__ void add_and_release(Node** lists, int* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
  for (Node* node = lists[i]; node != nullptr;) {
    Node* const next = node->next;
    sum += node->value;
    delete node;
    node = next;
  }
  out[i] = sum;
}

TEST(KernelMemory, OutlivesALaunchAndIsFollowed) {
  Array<Node*> lists{256};
  Array<int> out{256};
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(finding_of([&] { build_list<<<4, 64>>>(lists, 10); }), "");
    EXPECT_EQ(last_launch_counters().global_store_lanes, 256U * (2 * 10 + 1));
    EXPECT_EQ(finding_of([&] { add_and_release<<<4, 64>>>(lists, out); }), "");
    EXPECT_EQ(out[255], 45);
    EXPECT_EQ(last_launch_counters().global_load_lanes, 256U * (2 * 10 + 1));
  }
}

TEST(KernelMemory, IsFollowedHoweverMuchThereIs) {
  Array<Node*> lists{64};
  Array<int> out{64};
  EXPECT_EQ(finding_of([&] { build_list<<<2, 32>>>(lists, 200); }), "");
  EXPECT_EQ(finding_of([&] { add_and_release<<<2, 32>>>(lists, out); }), "");
  EXPECT_EQ(out[63], 19900);
}

__global__ void misuse_memory(int what, float* out) {
  float* const mine = new float[8];
  if (what != 1) mine[3] = 1;
  if (what == 2) mine[8] = 1;
  if (what == 3) delete[] mine;
  if (what == 5) free(out);
  out[0] = mine[3];
  if (what == 6) delete[] mine;
  delete[] mine;
}

TEST(KernelMemory, IsCheckedAsBuffersAre) {
  Array<float> out{1};
  const auto finding = [&](int what) { return finding_of([&] { misuse_memory<<<1, 1>>>(what, out); }); };
  EXPECT_EQ(finding(0), "");
  EXPECT_TRUE(
      finding(1).starts_with("uninitialised read in misuse_memory: block 0, thread 0 reads 4-byte word 3 of "
                             "a kernel's memory (8 words)"))
      << finding(1);
  EXPECT_TRUE(
      finding(2).starts_with("out of bounds in misuse_memory: block 0, thread 0 writes 4-byte word 8 of a "
                             "kernel's memory (8 words)"))
      << finding(2);
  EXPECT_TRUE(finding(3).starts_with(
      "out of bounds in misuse_memory: block 0, thread 0 reads 4-byte word 3 of a kernel's memory (8 words)"))
      << finding(3);
  for (const int what : {5, 6}) {
    EXPECT_TRUE(finding(what).starts_with(
        "out of bounds in misuse_memory: block 0, thread 0 releases memory that no kernel holds at "))
        << finding(what);
  }
}

__global__ void share_memory(int* out, bool barrier) {
  __shared__ int* words;
  if (threadIdx.x == 0) words = static_cast<int*>(malloc(blockDim.x * sizeof(int)));
  __syncthreads();
  words[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (barrier) __syncthreads();
  out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) free(words);
}

TEST(KernelMemory, IsCheckedForRaces) {
  Array<int> out{64};
  EXPECT_EQ(finding_of([&] { share_memory<<<1, 64>>>(out, true); }), "");
  EXPECT_EQ(out[0], 63);
  EXPECT_TRUE(finding_of([&] { share_memory<<<1, 64>>>(out, false); }).starts_with("race in share_memory: "));
}

__global__ void take(void** taken, std::size_t bytes) { *taken = malloc(bytes); }
__global__ void give_back(void** taken) { free(*taken); }

TEST(KernelMemory, EndsAfterEightMebibytes) {
  Array<void*> taken{1};
  take<<<1, 1>>>(taken, (std::size_t{8} << 20) + 1);
  EXPECT_EQ(taken[0], nullptr);
  take<<<1, 1>>>(taken, std::size_t{7} << 20);
  EXPECT_NE(taken[0], nullptr);
  give_back<<<1, 1>>>(taken);
  for (int i = 0; i < 20; ++i) {
    take<<<1, 1>>>(taken, std::size_t{1} << 20);
    EXPECT_NE(taken[0], nullptr) << i;
    give_back<<<1, 1>>>(taken);
  }
}

// ---- what a kernel says ----

__global__ void stop_at(const int* in, int limit) {
  const int value = in[threadIdx.x];
  assert(value < limit);
  if (value == limit - 1) __trap();
}

TEST(Traps, AreFindings) {
  Array<int> in{64};
  for (int i = 0; i < 64; ++i)
    in[i] = i;
  EXPECT_EQ(finding_of([&] { stop_at<<<1, 64>>>(in, 65); }), "");
  std::string text = finding_of([&] { stop_at<<<1, 33>>>(in, 32); });
  EXPECT_TRUE(
      text.starts_with("trap in stop_at: block 0, thread 31 calls __trap() at emulated/language_test.cpp:"))
      << text;
  text = finding_of([&] { stop_at<<<1, 32>>>(in + 40, 40); });
  EXPECT_TRUE(
      text.starts_with("trap in stop_at: block 0, thread 0 fails the assertion `value < limit` at "
                       "emulated/language_test.cpp:"))
      << text;
}

__global__ void print(const float* in) {
  if (threadIdx.x % 32 == 0) printf("block %u, thread %u: %.2f\n", blockIdx.x, threadIdx.x, in[threadIdx.x]);
}

TEST(Printing, IsTheHosts) {
  Array<float> in{64};
  in[32] = 1.5F;
  testing::internal::CaptureStdout();
  print<<<1, 64>>>(in);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "block 0, thread 0: 0.00\nblock 0, thread 32: 1.50\n");
}

// ---- time ----

__global__ void wait_for_a_millisecond(long long* waited) {
  const clock_t begin = clock();
  while ((clock() - begin) * 1000 < CLOCKS_PER_SEC) {
  }
  waited[0] = clock() - begin;
}

TEST(Time, OfAKernelIsThatOfTheProgram) {
  Array<long long> waited{1};
  const clock_t before = clock();
  EXPECT_EQ(finding_of([&] { wait_for_a_millisecond<<<1, 1>>>(waited); }), "");
  EXPECT_GE(waited[0] * 1000, CLOCKS_PER_SEC);
  EXPECT_LE(waited[0], clock() - before);
}

// ---- variables of the device ----

alignas(4096) __device__ int before[10];
alignas(4096) __device__ int bins_of_all[10];
alignas(4096) __device__ int after[10];

__global__ void add_to_bin(int bin) {
  atomicAdd(&before[0], 1);
  atomicAdd(&bins_of_all[bin], 1);
  atomicAdd(&after[0], 1);
}

TEST(DeviceVariables, EndWhereTheProgramsSymbolsSaySo) {
  EXPECT_EQ(finding_of([] { add_to_bin<<<2, 32>>>(9); }), "");
  EXPECT_EQ(bins_of_all[9], 64);
  for (const int bin : {-1, 10}) {
    const std::string text = finding_of([&] { add_to_bin<<<1, 32>>>(bin); });
    EXPECT_TRUE(text.starts_with(
        "out of bounds in add_to_bin: block 0, thread 0 atomically updates 4-byte word " +
        std::to_string(bin) + " of the variable bins_of_all (10 words) at emulated/language_test.cpp:"))
        << text;
  }
}

// ---- plain structs ----

struct Padded {
  char letter;
  double value;  // after 7 bytes that nobody writes
};

struct Long {
  short key;
  double value;
  int count;  // before 4 more
};

struct alignas(16) Wide {
  float values[8];
};

struct Unaligned {
  char bytes[7];
};

template <typename T> __global__ void fill_in(T* out, T* copies, T* shared_copies);

template <> __global__ void fill_in(Padded* out, Padded* copies, Padded* shared_copies) {
  __shared__ Padded tile[32];
  const unsigned i = threadIdx.x;
  tile[i].letter = 'a';
  tile[i].value = i;
  out[i].letter = 'b';
  out[i].value = i;
  const Padded mine = out[i];
  copies[i] = mine;
  shared_copies[i] = tile[i];
}

template <> __global__ void fill_in(Long* out, Long* copies, Long* shared_copies) {
  __shared__ Long tile[32];
  const unsigned i = threadIdx.x;
  tile[i].key = out[i].key = static_cast<short>(i);
  tile[i].value = out[i].value = i;
  tile[i].count = out[i].count = 1;
  const Long mine = out[i];
  copies[i] = mine;
  shared_copies[i] = tile[i];
}

template <typename T> std::string finding_of_copies() {
  Array<T> out{32};
  Array<T> copies{32};
  Array<T> shared_copies{32};
  out.forget(0, 32);
  copies.forget(0, 32);
  shared_copies.forget(0, 32);
  return finding_of([&] { fill_in<T><<<1, 32>>>(out, copies, shared_copies); });
}

TEST(Structs, AreCopiedWithTheirPadding) {
  EXPECT_EQ(finding_of_copies<Padded>(), "");
  EXPECT_EQ(finding_of_copies<Long>(), "");
}

template <typename T> __global__ void copy_from(const T* in, T* out) {
  __shared__ T tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = tile[31 - threadIdx.x];
}

template <typename T> __global__ void overtake(T* items) { items[threadIdx.x] = items[threadIdx.x + 1]; }

template <typename T> void expect_copied_without_a_finding(unsigned offset) {
  Array<unsigned char> in{33 * sizeof(T)};
  Array<T> out{32};
  for (std::size_t i = 0; i < 33 * sizeof(T); ++i)
    in[i] = static_cast<unsigned char>(i);
  const T* const from = reinterpret_cast<const T*>(in + offset);
  EXPECT_EQ(finding_of([&] { copy_from<T><<<1, 32>>>(from, out); }), "");
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(std::memcmp(&out[i], &from[31 - i], sizeof(T)), 0);
  Array<T> items{33};
  EXPECT_TRUE(finding_of([&] { overtake<T><<<1, 32>>>(items); }).starts_with("race in overtake: "));
}

__global__ void read_first(const Padded* in, float4* vectors, double* out) {
  __shared__ Padded tile[1];
  __shared__ float4 four[1];
  four[0].x = four[0].y = four[0].z = 1;
  if (in != nullptr) tile[0].value = 1;
  const Padded mine = in != nullptr ? tile[0] : Padded{};
  if (vectors != nullptr) vectors[0] = four[0];
  out[0] = mine.value;
}

TEST(Structs, AreReportedIfTheirFirstMemberIsUnwrittenAndVectorsInAnyCase) {
  Array<Padded> in{1};
  Array<float4> vectors{1};
  Array<double> out{1};
  EXPECT_TRUE(finding_of([&] {
                read_first<<<1, 1>>>(in, nullptr, out);
              }).starts_with("uninitialised read in read_first"));
  EXPECT_TRUE(finding_of([&] {
                read_first<<<1, 1>>>(nullptr, vectors, out);
              }).starts_with("uninitialised read in read_first"));
}

TEST(Structs, MayBeginWhereTheirTypeMay) {
  expect_copied_without_a_finding<Wide>(16);
  expect_copied_without_a_finding<Long>(8);
  expect_copied_without_a_finding<Unaligned>(1);
}

}  // namespace
