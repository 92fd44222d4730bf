/// CUDA's votes, shuffles, barriers and groups give on the emulated device what they give on a GPU: a row for each, with what
/// each thread gets by hand.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "device/cuda_or_emulated.cuh"
#include "device/shuffle_down.cuh"
#include "emulated/kernel_sweep.hpp"
#include "emulated/language/complex.hpp"

namespace {

using namespace __emulated;

template <typename T> using Array = DeviceArray<T>;

constexpr unsigned all = 0xffffffff;

template <typename F, typename T> __global__ void call(F function, T* out) {
  out[threadIdx.x] = function(threadIdx.x);
}

/// A row: the shuffles that a function takes, what each thread of a block has to get of it, a value for all or a function of the
/// thread, and the function.
template <typename G, typename F>
void expect_of_threads(const char* name, unsigned threads, unsigned shuffles, G expected, F function) {
  using T = decltype(function(0U));
  Array<T> out{threads};
  sweep({{name, [&] { call<<<1, threads>>>(function, out.begin()); }, {{&Counters::shuffles, shuffles}}}});
  for (unsigned i = 0; i < threads; ++i) {
    if constexpr (std::is_invocable_v<G, unsigned>) {
      EXPECT_EQ(out[i], static_cast<T>(expected(i))) << "of thread " << i;
    } else {
      EXPECT_EQ(out[i], static_cast<T>(expected)) << "of thread " << i;
    }
  }
}

TEST(Votes, OfAWarp) {
  const auto match_all = [](auto value) {
    int is_same = 2;
    const unsigned lanes = __match_all_sync(all, value, &is_same);
    return static_cast<long long>(lanes) + (is_same == 1 ? 1LL << 32 : is_same);
  };
  const auto expect = [](const char* name, auto expected, auto function) {
    expect_of_threads(name, 32, 0, expected, function);
  };
  expect("ballot", 0x49249249, [](unsigned lane) { return __ballot_sync(all, lane % 3 == 0); });
  expect(
      "ballot of halves", [](unsigned lane) { return lane < 16 ? 0xAAAA : 0x55550000; },
      [](unsigned lane) {
        return lane < 16 ? __ballot_sync(0xffff, lane % 2) : __ballot_sync(0xffff0000, lane % 2 == 0);
      });
  expect("any", 1, [](unsigned lane) { return __any_sync(all, lane == 31); });
  expect("all", 0, [](unsigned lane) { return __all_sync(all, lane < 31); });
  expect(
      "match any", [](unsigned lane) { return (lane < 30 ? 0x3FFU : 3U) << lane / 10 * 10; },
      [](unsigned lane) { return __match_any_sync(all, lane / 10); });
  expect("match all", 0x1FFFFFFFF, [=](unsigned) { return match_all(1.5); });
  expect("match all of two values", 0, [=](unsigned lane) { return match_all(lane / 31); });

  const auto number = [](unsigned lane) { return static_cast<int>(lane) - 16; };
  expect("reduce add", -16, [=](unsigned lane) { return __reduce_add_sync(all, number(lane)); });
  expect("reduce min", -16, [=](unsigned lane) { return __reduce_min_sync(all, number(lane)); });
  expect("reduce max", 15, [=](unsigned lane) { return __reduce_max_sync(all, number(lane)); });
  expect("reduce max without a sign", ~0U, [](unsigned lane) { return __reduce_max_sync(all, lane - 16); });
  expect("reduce and", 0, [](unsigned lane) { return __reduce_and_sync(all, ~(1U << lane)); });
  expect("reduce or", 0xAAAAAAAA, [](unsigned i) { return __reduce_or_sync(all, i % 2 ? 1U << i : 0U); });
  // 1 ^ 2 ^ ... ^ 31 is 0.
  expect("reduce xor", 32, [](unsigned lane) { return __reduce_xor_sync(all, lane + 1); });
}

TEST(Votes, OfABlock) {
  const auto expect = [](const char* name, int expected, auto function) {
    expect_of_threads(name, 64, 0, expected, function);
  };
  expect("count", 22, [](unsigned tid) { return __syncthreads_count(tid % 3 == 0); });
  expect("and", 1, [](unsigned tid) { return __syncthreads_and(tid < 64); });
  expect("and of all but one", 0, [](unsigned tid) { return __syncthreads_and(tid < 63); });
  for (const unsigned which : {0U, 40U, 63U, 64U}) {
    expect("or, then of none", which < 64 ? 10 : 0,
           [=](unsigned tid) { return 10 * (__syncthreads_or(tid == which) != 0) + __syncthreads_or(0); });
  }
  Array<int> out{64};
  const auto several = [](unsigned tid) {
    __nanosleep(100);
    __threadfence_block();
    __threadfence_system();
    return __syncthreads_count(tid == 0) + __syncthreads_and(1);
  };
  EXPECT_EQ(counters_of([&] { call<<<1, 64>>>(several, out.begin()); }).block_barriers, 2U);
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
  Array<unsigned> even{64}, odd{64};
  Array<int> counter{1};
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    set_schedule({Order::random, seed});
    counter[0] = 0;
    count_on_the_way<<<1, 64>>>(even, odd, counter);
    EXPECT_EQ(even[0], 0x55555555U);
    EXPECT_EQ(even[62], 0x55555555U);
    EXPECT_EQ(odd[7], 0xAAU);
    EXPECT_EQ(counter[0], 8);
  }
  set_schedule({});
}

TEST(Shuffles, TakeTheirValueFromTheLaneThatCudaNames) {
  const auto expect = [](const char* name, unsigned words, auto source, auto function) {
    expect_of_threads(name, 32, words, source, function);
  };
  const auto first_of_width = [](unsigned lane) { return lane / 8 * 8 + 5; };
  const auto three_up = [](unsigned lane) { return lane < 3 ? lane : lane - 3; };
  const auto three_down = [](unsigned lane) { return lane % 16 > 12 ? lane : lane + 3; };
  const auto across = [](unsigned lane) { return lane ^ 9; };
  expect("of a width", 1, first_of_width, [](unsigned lane) { return __shfl_sync(all, lane, 5, 8); });
  expect("up", 1, three_up, [](unsigned lane) { return __shfl_up_sync(all, lane, 3U); });
  expect("down", 1, three_down, [](unsigned lane) { return __shfl_down_sync(all, lane, 3U, 16); });
  expect("xor", 1, across, [](unsigned lane) { return __shfl_xor_sync(all, lane, 9); });
  // They are counted by the word, of which a large value takes several.
  const auto down_by_one = [&]<typename T>(const char* name, T, unsigned words) {
    const auto value = [](unsigned number) { return static_cast<T>(static_cast<float>(number) / 10); };
    expect(
        name, words, [=](unsigned lane) { return value(lane < 31 ? lane + 1 : 31); },
        [=](unsigned lane) { return shuffle_down(value(lane), 1); });
  };
  down_by_one("float", float{}, 1);
  down_by_one("uint64_t", std::uint64_t{}, 2);
  down_by_one("complex float", Complex<float>{}, 2);
  down_by_one("complex double", Complex<double>{}, 4);
  const auto one_down = [](unsigned lane) { return lane < 31 ? lane + 1 : 31; };
  expect("double", 2, one_down,
         [](unsigned lane) { return __shfl_down_sync(all, static_cast<double>(lane), 1); });
  expect("half", 1, one_down, [](unsigned i) { return float{__shfl_down_sync(all, half{i}, 1)}; });
  // Half of a warp takes turns with itself; the other half takes no part.
  expect(
      "of a half", 4 * 2, [](unsigned lane) { return lane == 0 ? 16 : 0; },
      [](unsigned lane) {
        double sum = 1;
        for (unsigned delta = 8; delta > 0 && lane < 16; delta /= 2)
          sum += __shfl_down_sync(0xffff, sum, delta, 16);
        if (lane < 16) __syncwarp(0xffff);
        return lane == 0 ? sum : 0;
      });
}

// ---- cooperative groups ----

namespace cg = cooperative_groups;

template <typename Group> __device__ int sum_of(const Group& group, int* space, int value) {
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
  const int of_block = sum_of<cg::thread_group>(block, space, value);
  if (block.thread_rank() == 0) out[0] = of_block;
  const auto tile = cg::tiled_partition<16>(block);
  const int of_tile = sum_of<cg::thread_group>(tile, space + tile.meta_group_rank() * tile.size(), value);
  if (tile.thread_rank() == 0) out[1 + tile.meta_group_rank()] = of_tile;
  const cg::thread_group part = cg::tiled_partition(block, 8);
  if (block.thread_rank() == 9) out[5] = static_cast<int>(10 * part.size() + part.thread_rank());
  if (block.thread_rank() == 63) out[6] = static_cast<int>(tile.meta_group_size() + cg::this_grid().size());
}

TEST(CooperativeGroups, AddInABlockAndInTiles) {
  Array<int> in{64}, out{7};
  for (int i = 0; i < 64; ++i)
    in[i] = i;
  const Counters counted = counters_of([&] { sum_in_groups<<<1, dim3(8, 8)>>>(in, out); });
  const int expected[] = {2016, 120, 256 + 120, 512 + 120, 768 + 120, 81, 4 + 64};
  EXPECT_TRUE(std::equal(out.begin(), out.end(), expected));
  EXPECT_EQ(counted.block_barriers, 12U);
  EXPECT_EQ(counted.warp_barriers, 4U * 8);
}

TEST(CooperativeGroups, ShuffleVoteAndReduceInTilesOfEight) {
  const auto expect = [](const char* name, unsigned shuffles, auto expected, auto function) {
    expect_of_threads(name, 32, shuffles, expected, [=](unsigned) {
      const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
      return function(tile, static_cast<int>(tile.thread_rank()));
    });
  };
  const auto two_down = [](unsigned thread) { return thread % 8 < 6 ? thread % 8 + 2 : thread % 8; };
  const auto two_up = [](unsigned thread) { return thread % 8 < 2 ? thread % 8 : thread % 8 - 2; };
  const auto across = [](unsigned thread) { return thread % 8 ^ 1; };
  const auto odd = [](unsigned thread) { return thread % 8 | 1; };
  const auto is_third = [](unsigned thread) { return thread / 8 == 2; };
  const auto is_not_first = [](unsigned thread) { return thread >= 8; };
  expect("shfl", 4, 3, [](auto tile, int rank) { return tile.shfl(rank, 3); });
  expect("shfl_down", 4, two_down, [](auto tile, int rank) { return tile.shfl_down(rank, 2); });
  expect("shfl_up", 4, two_up, [](auto tile, int rank) { return tile.shfl_up(rank, 2); });
  expect("shfl_xor", 4, across, [](auto tile, int rank) { return tile.shfl_xor(rank, 1); });
  expect("ballot", 0, 0x55, [](auto tile, int rank) { return tile.ballot(rank % 2 == 0); });
  expect("any", 0, is_third, [](auto tile, int) { return tile.any(threadIdx.x == 20) != 0; });
  expect("all", 0, is_not_first, [](auto tile, int) { return tile.all(threadIdx.x >= 8) != 0; });
  expect("sum", 0, 28, [](auto tile, int rank) { return cg::reduce(tile, rank, cg::plus<int>()); });
  expect("least", 0, -4, [](auto tile, int rank) { return cg::reduce(tile, rank - 4, cg::less<int>()); });
  expect("greatest of a pair", 0, odd, [](auto tile, int rank) {
    return cg::reduce(cg::tiled_partition<2>(tile), rank, cg::greater<int>());
  });
  expect("bits", 0, 0xFF,
         [](auto tile, int rank) { return cg::reduce(tile, 1U << rank, cg::bit_or<unsigned>()); });
  // Whole numbers take no shuffles.
  expect("floats", 4 * 3, 4, [](auto tile, int) { return cg::reduce(tile, 0.5F, cg::plus<float>()); });
}

template <unsigned count> __global__ void tiles_of_warps(const int* in, int* out, float* sums) {
  __shared__ cg::block_tile_memory<256> scratch;
  __shared__ int space[256];
  const cg::thread_block block = cg::this_thread_block(scratch);
  const auto tile = cg::tiled_partition<count>(block);
  const int value = in[block.thread_rank()];
  const int of_tile = sum_of(tile, space + tile.meta_group_rank() * tile.size(), value);
  const auto part = cg::tiled_partition<count / 2>(tile);
  int* const own = out + block.thread_rank() * 6;
  own[0] = tile.shfl(of_tile, 0);
  own[1] = tile.shfl(value, count - 1);
  own[2] = tile.any(block.thread_rank() == 255);
  own[3] = tile.all(block.thread_rank() >= 255 / count * count);
  own[4] = cg::reduce(tile, value, cg::greater<int>());
  own[5] = static_cast<int>(10 * part.meta_group_rank() + part.meta_group_size());
  sums[block.thread_rank()] = cg::reduce(tile, 0.5F, [](float a, float b) { return a + b; });
}

template <unsigned count> void expect_of_tiles() {
  Array<int> in{256}, out{256 * 6};
  Array<float> sums{256};
  for (int i = 0; i < 256; ++i)
    in[i] = i;
  const Counters counted = counters_of([&] { tiles_of_warps<count><<<1, dim3(16, 16)>>>(in, out, sums); });
  for (int i = 0; i < 256; ++i) {
    const int size = static_cast<int>(count), first = i / size * size, last = first + size - 1;
    const bool is_last = last == 255;
    const int expected[] = {size * (first + last) / 2,     last, is_last, is_last, last,
                            10 * (i % size * 2 / size) + 2};
    EXPECT_TRUE(std::equal(std::begin(expected), std::end(expected), out.begin() + i * 6)) << i;
    EXPECT_EQ(sums[i], 0.5F * size);
  }
  // Two of each warp in each level of the sum, and in each of six functions.
  EXPECT_EQ(counted.warp_barriers, 8U * (2 * std::bit_width(count / 2) + 2 * 6));
  EXPECT_EQ(counted.block_barriers, 0U);
}

TEST(CooperativeGroups, OfSeveralWarps) {
  expect_of_tiles<64>();
  expect_of_tiles<128>();
  expect_of_tiles<256>();
}

__global__ void reverse_in_tiles(int* out, bool barrier, unsigned from) {
  __shared__ int space[256];
  const auto tile = cg::tiled_partition<128>(cg::this_thread_block());
  space[threadIdx.x] = static_cast<int>(threadIdx.x);
  if (barrier) tile.sync();
  out[threadIdx.x] = space[threadIdx.x ^ from];
}

TEST(CooperativeGroups, OfSeveralWarpsOrderThemselvesOnly) {
  Array<int> out{256};
  sweep({{"within tiles", [&] {
            reverse_in_tiles<<<1, 256>>>(out, true, 127);
            EXPECT_EQ(out[255], 128);
          }}});
  expect_findings(
      {{"race in reverse_in_tiles: block 0, thread ", [&] { reverse_in_tiles<<<1, 256>>>(out, false, 127); }},
       {"race in reverse_in_tiles: block 0, thread ",
        [&] { reverse_in_tiles<<<1, 256>>>(out, true, 128); }}});
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
  Array<int> in{32}, count{1}, ranks{32};
  for (int i = 0; i < 32; ++i)
    in[i] = i;
  EXPECT_EQ(counters_of([&] { add_once_for_all<<<1, 32>>>(in, count, ranks); }).atomics, 1U);
  EXPECT_EQ(count[0], 11);
  for (int i = 0; i < 11; ++i)
    EXPECT_EQ(ranks[3 * i], i);
}

struct Running {
  float sum, products;
};
struct Wide {
  double values[4];
};

TEST(CooperativeGroups, PartScanAndCallOnce) {
  const auto expect = [](const char* name, unsigned shuffles, auto expected, auto function) {
    expect_of_threads(name, 32, shuffles, expected, [=](unsigned thread) {
      return function(cg::tiled_partition<8>(cg::this_thread_block()), thread % 8);
    });
  };
  // An odd, an even one, and of a pair of parts their rank and number.
  const auto parts = [](const cg::coalesced_group& part) {
    return 1000 * part.meta_group_size() + 100 * part.meta_group_rank() + 10 * part.size() +
           part.thread_rank();
  };
  expect(
      "halves", 0, [](unsigned t) { return 2000 + t % 2 * 100 + 40 + t % 8 / 2; },
      [=](auto tile, unsigned rank) { return parts(cg::binary_partition(tile, rank % 2 == 1)); });
  expect(
      "all of them", 0, [](unsigned t) { return 1000 + 80 + t % 8; },
      [=](auto tile, unsigned) { return parts(cg::binary_partition(tile, true)); });
  expect(
      "by labels", 0,
      [](unsigned t) { return 3000 + t % 8 % 3 * 100 + (t % 8 % 3 == 2 ? 20 : 30) + t % 8 / 3; },
      [=](auto tile, unsigned rank) { return parts(cg::labeled_partition(tile, 7 - rank % 3)); });
  expect(
      "parts of a part", 0, [](unsigned t) { return 2000 + t % 8 / 4 * 100 + 20 + t % 8 / 2 % 2; },
      [=](auto tile, unsigned rank) {
        return parts(cg::tiled_partition(cg::binary_partition(tile, rank % 2 == 1), 2));
      });
  expect(
      "sum of those before", 4 * 3, [](unsigned t) { return t % 8 * (t % 8 - 1) / 2; },
      [](auto tile, unsigned rank) { return cg::exclusive_scan(tile, rank); });
  expect(
      "least of those before", 4 * 4, [](unsigned t) { return t % 8 == 0 ? 0 : 20 - (t % 8 - 1); },
      [](auto tile, unsigned rank) { return cg::exclusive_scan(tile, 20 - rank, cg::less<unsigned>()); });
  expect(
      "sum to a thread of its part", 8 * 2, [](unsigned t) { return (t % 8 / 2 + 1) * (t % 8 / 2 + t % 2); },
      [](auto tile, unsigned rank) {
        return cg::inclusive_scan(cg::binary_partition(tile, rank % 2 == 1), rank, cg::plus<unsigned>());
      });
  expect(
      "sum of a part", 0, [](unsigned t) { return 12 + t % 2 * 4; },
      [](auto tile, unsigned rank) {
        return cg::reduce(cg::binary_partition(tile, rank % 2 == 1), rank, cg::plus<unsigned>());
      });
  expect("of a struct", 4 * 3 * 2, 28 + 8, [](auto tile, unsigned rank) {
    const auto join = [](Running a, Running b) { return Running{a.sum + b.sum, a.products + b.products}; };
    const Running whole = cg::reduce(tile, Running{static_cast<float>(rank), 1}, join);
    return whole.sum + whole.products;
  });
  expect("of 32 bytes", 4 * 8, 3 + 30, [](auto tile, unsigned rank) {
    const Wide of_three = tile.shfl(Wide{{1.0 * rank, 0, 0, 10.0 * rank}}, 3);
    return of_three.values[0] + of_three.values[3];
  });
  expect("once for all", 4, 7, [](auto tile, unsigned rank) {
    unsigned own = 0;
    cg::invoke_one(
        tile, [&](unsigned by) { own += by; }, 5U);
    if (own != (rank == 0 ? 5 : 0)) return 0U;
    return cg::invoke_one_broadcast(tile, [=] { return rank + 7; });
  });
}

__global__ void scan_in_tiles_of_warps(const int* in, int* out) {
  const auto tile = cg::tiled_partition<128>(cg::this_thread_block());
  out[2 * threadIdx.x] = cg::inclusive_scan(tile, in[threadIdx.x], cg::plus<int>());
  out[2 * threadIdx.x + 1] = cg::exclusive_scan(tile, in[threadIdx.x]);
}

TEST(CooperativeGroups, ScanOverSeveralWarps) {
  Array<int> in{256}, out{512};
  for (int i = 0; i < 256; ++i)
    in[i] = i * i % 7 - 2;
  sweep({{"tiles of four warps", [&] { scan_in_tiles_of_warps<<<1, 256>>>(in, out); }}});
  for (int i = 0, sum = 0; i < 256; ++i) {
    if (i % 128 == 0) sum = 0;
    EXPECT_EQ(out[2 * i + 1], sum) << i;
    sum += in[i];
    EXPECT_EQ(out[2 * i], sum) << i;
  }
}

// ---- faults ----

__global__ void part_without_all(unsigned* out) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  if (tile.thread_rank() < 4) out[threadIdx.x] = cg::binary_partition(tile, threadIdx.x % 2 == 0).size();
  __syncwarp();
}

__global__ void scan_without_all(unsigned* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  if (threadIdx.x != 5) out[threadIdx.x] = cg::inclusive_scan(tile, 1U);
}

__global__ void read_what_one_wrote(unsigned* out, bool syncs) {
  __shared__ unsigned one;
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  cg::invoke_one(tile, [&] { one = 1; });
  if (syncs) tile.sync();
  out[threadIdx.x] = one;
}

__global__ void vote_differently(int* out) {
  if (threadIdx.x < 16) {
    out[threadIdx.x] = __any_sync(0xffffffff, 1);
  } else {
    out[threadIdx.x] = __all_sync(0xffffffff, 1);
  }
}

__global__ void miss_a_tile() {
  if (threadIdx.x < 96) cg::tiled_partition<64>(cg::this_thread_block()).sync();
}

/// Others are those of barrier_in_each_branch and shuffles_without_their_lanes (docs/pitfalls).
TEST(WarpFunctions, HaveFindings) {
  Array<unsigned> out{32};
  Array<int> other{32};
  sweep({{"what one wrote", [&] { read_what_one_wrote<<<1, 32>>>(out, true); }}});
  expect_findings(
      {{"deadlock in part_without_all: block 0, threads 0-3, 8-11, 16-19, 24-27 wait at a vote",
        [&] { part_without_all<<<1, 32>>>(out); }},
       {"shuffle from an inactive lane in scan_without_all: block 0, thread 6 shuffles from the "
        "inactive lane 5",
        [&] { scan_without_all<<<1, 32>>>(out); }},
       {"deadlock in miss_a_tile: block 0, threads 0-63, 96-255 have left the kernel; block 0, threads 64-95 "
        "wait at a barrier of a part of the block",
        [] { miss_a_tile<<<1, 256>>>(); }},
       {"race in read_what_one_wrote: block 0, thread ", [&] { read_what_one_wrote<<<1, 32>>>(out, false); }},
       {"deadlock in vote_differently: block 0, threads 0-15 wait at a vote",
        [&] { vote_differently<<<1, 32>>>(other); }}});
}

}  // namespace
