/// What a race is does not depend on the schedule, on host threads or on time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "device/dialect.cuh"
#include "device_array.hpp"

namespace {

using namespace reduction::emulated;
using Word = std::uint32_t;
using Words = DeviceArray<Word>;

/// A finding's kinds of fault only.
std::string faults_of(const auto& launch_kernel) {
  std::string faults;
  try {
    launch_kernel();
  } catch (const KernelFinding& finding) {
    for (const Finding& each : finding.findings()) {
      faults += (faults.empty() ? "" : ", ") + std::string{name_of(each.fault)};
    }
  }
  return faults;
}

/// What `verdict` says in each schedule and with one and four host threads; these have to agree.
std::string agreed(const auto& verdict, unsigned repetitions = 1) {
  std::vector<Schedule> schedules{{Order::ascending, 0}, {Order::descending, 0}};
  for (unsigned seed = 0; seed < 20; ++seed)
    schedules.push_back({Order::random, seed});
  const std::string first = verdict();
  std::string answer = first;
  for (const unsigned host_threads : {1U, 4U}) {
    set_host_threads(host_threads);
    for (const Schedule& schedule : schedules) {
      set_schedule(schedule);
      for (unsigned i = 0; i < repetitions && answer == first; ++i)
        answer = verdict();
    }
  }
  set_schedule({});
  set_host_threads(0);
  return answer == first ? first : "disagree:\n" + first + "\nand\n" + answer;
}

template <typename T> __global__ void add_beside_a_store(T* out, bool barrier) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  if (threadIdx.x == 0) shared[0] = 0;
  if (barrier) __syncthreads();
  atomicAdd(&shared[0], 1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = shared[0];
}

template <typename T> __global__ void add_beside_a_load(T* out, bool barrier) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  if (threadIdx.x == 0) shared[0] = 0;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = shared[0];
  if (barrier) __syncthreads();
  atomicAdd(&shared[0], 1);
}

TEST(EmulatedRaces, SharedAtomicsHideNeitherStoresNorLoads) {
  Words out{1};
  for (const unsigned block : {2U, 32U, 64U, 256U}) {
    const auto verdict = [&](auto kernel, bool barrier) {
      return agreed([&] { return faults_of([&] { launch({1, block, 4}, kernel, out, barrier); }); });
    };
    EXPECT_EQ(verdict(add_beside_a_store<Word>, false), "race") << block;
    EXPECT_EQ(verdict(add_beside_a_store<Word>, true), "") << block;
    EXPECT_EQ(verdict(add_beside_a_load<Word>, false), "race") << block;
    EXPECT_EQ(verdict(add_beside_a_load<Word>, true), "") << block;
  }
}

/// Two warps read the word that thread 0 then overwrites. A barrier of its own warp does not wait for the other.
template <typename T> __global__ void overwrite_what_two_warps_read(T* out, bool block_barrier) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  if (threadIdx.x == 0) shared[0] = 1;
  __syncthreads();
  out[threadIdx.x] = shared[0];
  if (block_barrier) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  if (threadIdx.x == 0) shared[0] = 2;
}

TEST(EmulatedRaces, AreWithAReaderOfAnotherWarpBehindABarrierOfOnesOwn) {
  Words out{64};
  const auto verdict = [&](bool block_barrier) {
    return agreed([&] {
      return faults_of([&] { launch({1, 64, 4}, overwrite_what_two_warps_read<Word>, out, block_barrier); });
    });
  };
  EXPECT_EQ(verdict(true), "");
  EXPECT_EQ(verdict(false), "race");
}

/// Lane 1 reads the word, meets lane 0, which then overwrites it, and may read it once more.
template <typename T> __global__ void read_before_and_after_a_part_meets(T* out, bool again) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  if (tid == 0) shared[0] = 1;
  __syncwarp();
  if (tid == 1) out[0] = shared[0];
  if (tid < 2) __syncwarp(0b11);
  if (tid == 1 && again) out[0] = shared[0];
  if (tid == 0) shared[0] = 2;
}

TEST(EmulatedRaces, AreWithWhatALaneReadsAfterAPartOfItsWarpHasMet) {
  Words out{1};
  const auto verdict = [&](bool again) {
    return agreed([&] {
      return faults_of([&] { launch({1, 32, 4}, read_before_and_after_a_part_meets<Word>, out, again); });
    });
  };
  EXPECT_EQ(verdict(false), "");
  EXPECT_EQ(verdict(true), "race");
}

/// The device's words about a launch of 4 or more blocks, which have to be the same each time. The output's words
/// after the first are unwritten before.
std::string text_between_blocks(const auto& kernel, LaunchConfig config, unsigned repetitions = 1) {
  const size_t words = 512;
  Words out{words};
  Words ticket{1};
  const auto launch_once = [&] {
    ticket[0] = 0;
    mark_uninitialised(&out[1], (words - 1) * sizeof(Word));
    launch(config, kernel, out, ticket);
  };
  return agreed([&] { return finding_of(launch_once); }, repetitions);
}

bool is_one_race(const std::string& text) {
  return text.starts_with("race in ") && text.find('\n') == std::string::npos;
}

template <typename T> __global__ void clear_and_add(T* out, T*) {
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = 0;
  if (threadIdx.x == 0) atomicAdd(&out[0], 1);
}

template <typename T> __global__ void clear_and_add_behind_a_fence(T* out, T*) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    out[0] = 0;
    __threadfence();
  }
  if (threadIdx.x == 0) atomicAdd(&out[0], 1);
}

enum class Last { block_done, block_done_fence_by_all, without_fence, fence_after_ticket, by_number };

/// Every block stores its sum; the last one adds them.
template <typename T, Last last> __global__ void sum_of_sums(T* out, T* ticket) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  if (tid == 0) {
    out[blockIdx.x] = blockIdx.x;
    if (last == Last::block_done) __threadfence();
  }
  if (last == Last::block_done_fence_by_all) {
    __threadfence();
    __syncthreads();
  }
  if (tid == 0) {
    if (last == Last::by_number) {
      shared[0] = blockIdx.x;
    } else {
      shared[0] = atomicAdd(ticket, 1);
    }
    if (last == Last::fence_after_ticket) __threadfence();
  }
  __syncthreads();
  if (shared[0] == gridDim.x - 1 && tid == 0) {
    T sum{};
    for (unsigned i = 0; i < gridDim.x; ++i)
      sum += out[i];
    out[0] = sum;
    *ticket = 0;
  }
}

/// The same by three threads: one stores the sum, another takes the ticket, a third adds the sums. A fence orders only
/// what its thread did before.
template <typename T, bool fence_comes_last> __global__ void sum_of_sums_by_three_threads(T* out, T* ticket) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  if (tid == 40) {
    if (!fence_comes_last) __threadfence();
    out[blockIdx.x] = blockIdx.x;
    if (fence_comes_last) __threadfence();
  }
  __syncthreads();
  if (tid == 0) shared[0] = atomicAdd(ticket, 1);
  __syncthreads();
  if (shared[0] == gridDim.x - 1 && tid == 33) {
    T sum{};
    for (unsigned i = 0; i < gridDim.x; ++i)
      sum += out[i];
    out[0] = sum;
  }
}

/// Thread 0 publishes what thread 32 of the last block reads without having heard of a ticket: it has not met thread 0
/// of its block, which has one, or nobody in its block has one.
template <typename T, bool last_block_has_one> __global__ void read_without_a_ticket(T* out, T* ticket) {
  const bool is_last = blockIdx.x == gridDim.x - 1;
  if (threadIdx.x == 0 && (!is_last || last_block_has_one)) {
    out[blockIdx.x] = blockIdx.x;
    __threadfence();
    atomicAdd(ticket, 1);
  }
  if (!last_block_has_one) __syncthreads();
  if (threadIdx.x == 32 && is_last) out[256] = out[0];
}

enum class Meets { lane_with_ticket, other_lane };

/// Lane 1 reads the blocks' words after a barrier of its warp, with lane 0, which has the ticket, or without it.
template <typename T, Meets meets> __global__ void read_behind_a_warp_barrier(T* out, T* ticket) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  if (tid == 0) {
    out[blockIdx.x] = blockIdx.x;
    __threadfence();
    shared[0] = atomicAdd(ticket, 1);
  }
  bool is_last = blockIdx.x == gridDim.x - 1;
  if (meets == Meets::lane_with_ticket) {
    __syncwarp();
    is_last = shared[0] == gridDim.x - 1;
  } else if (tid == 1 || tid == 2) {
    __syncwarp(0b110);
  }
  if (is_last && tid == 1) {
    T sum{};
    for (unsigned i = 0; i < gridDim.x - 1; ++i)
      sum += out[i];
    out[256] = sum;
  }
}

/// The first warp of the last block adds the sums. Lane 0 tells the others, with or without a barrier.
template <typename T, bool barrier> __global__ void sum_of_sums_by_a_warp(T* out, T* ticket) {
  const unsigned tid = threadIdx.x;
  if (tid >= 32) return;
  if (tid == 0) out[blockIdx.x] = blockIdx.x;
  T number{};
  if (tid == 0) {
    __threadfence();
    number = atomicAdd(ticket, 1);
  }
  if (__shfl_sync(0xffffffff, number, 0) != gridDim.x - 1) return;
  if (barrier) __syncwarp();
  T sum{};
  for (unsigned i = tid; i < gridDim.x; i += 32)
    sum += out[i];
  out[gridDim.x + tid] = sum;
}

template <typename T> __global__ void read_a_lower_block(T* out, T*) {
  const unsigned b = blockIdx.x;
  if (threadIdx.x != 0) return;
  out[b] = b;
  if (b >= 64) out[b + 256] = out[b - 64];
}

template <typename T> __global__ void store_to_the_blocks_word(T* out, T*) {
  if (threadIdx.x % 32 == 7) out[blockIdx.x] = 1;
}

template <typename T> __global__ void add_to_one_word(T* out, T*) {
  if (threadIdx.x == 0) out[0] += 1;
}

template <typename T, bool barrier> __global__ void tree_in_global_memory(T* out, T*) {
  T* const tile = out + size_t{blockIdx.x} * blockDim.x;
  const unsigned tid = threadIdx.x;
  tile[tid] = tid;
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (tid < stride) tile[tid] += tile[tid + stride];
    if (barrier) __syncthreads();
  }
}

template <typename T> __global__ void read_unwritten(T* out, T*) {
  if (threadIdx.x == 0) out[blockIdx.x + 64] = out[blockIdx.x + 32];
}

TEST(EmulatedRaces, AreFoundBetweenBlocksWhateverTheirTiming) {
  const LaunchConfig config{128, 512, 4};  // enough threads for four of the host
  const auto is_race = [](const auto& kernel, LaunchConfig launched, unsigned repetitions = 3) {
    const std::string text = text_between_blocks(kernel, launched, repetitions);
    EXPECT_TRUE(text.starts_with("race in ")) << text;
    EXPECT_EQ(text.find("uninitialised"), std::string::npos) << text;
    return text;
  };
  is_race(clear_and_add<Word>, config);
  is_race(clear_and_add_behind_a_fence<Word>, config);
  is_race(sum_of_sums<Word, Last::without_fence>, config);
  is_race(sum_of_sums<Word, Last::fence_after_ticket>, config);
  is_race(sum_of_sums<Word, Last::by_number>, config);
  is_race(sum_of_sums_by_a_warp<Word, false>, {4, 64, 4});
  const std::string text = is_race(read_a_lower_block<Word>, config, 20);
  EXPECT_NE(text.find("block 0, thread 0 writes 4-byte word 0 "), std::string::npos) << text;
  EXPECT_NE(text.find("block 64, thread 0 reads it"), std::string::npos) << text;
  const std::string add = is_race(add_to_one_word<Word>, config);
  EXPECT_TRUE(is_one_race(add)) << add;
  EXPECT_NE(add.find("block 1, thread 0 writes it"), std::string::npos) << add;
}

TEST(EmulatedRaces, AreNoneBehindFencesAndTickets) {
  EXPECT_EQ(text_between_blocks(sum_of_sums<Word, Last::block_done>, {4, 64, 4}, 10), "");
  EXPECT_EQ(text_between_blocks(sum_of_sums<Word, Last::block_done>, {128, 512, 4}, 2), "");
  EXPECT_EQ(text_between_blocks(sum_of_sums<Word, Last::block_done_fence_by_all>, {4, 64, 4}, 10), "");
  EXPECT_EQ(text_between_blocks(sum_of_sums_by_a_warp<Word, true>, {4, 64, 4}, 10), "");
}

TEST(EmulatedRaces, AreWithWhatAThreadStoredAfterItsFence) {
  EXPECT_EQ(text_between_blocks(sum_of_sums_by_three_threads<Word, true>, {4, 64, 4}, 10), "");
  const std::string text = text_between_blocks(sum_of_sums_by_three_threads<Word, false>, {4, 64, 4}, 10);
  EXPECT_TRUE(text.starts_with("race in ")) << text;
}

TEST(EmulatedRaces, AreWithAThreadThatHasNotHeardOfATicket) {
  for (const std::string& text : {text_between_blocks(read_without_a_ticket<Word, true>, {4, 64, 4}, 10),
                                  text_between_blocks(read_without_a_ticket<Word, false>, {4, 64, 4}, 10)}) {
    EXPECT_TRUE(is_one_race(text)) << text;
    EXPECT_NE(text.find("block 3, thread 32 reads it"), std::string::npos) << text;
  }
  EXPECT_EQ(text_between_blocks(read_behind_a_warp_barrier<Word, Meets::lane_with_ticket>, {4, 32, 4}, 10),
            "");
  const std::string lanes =
      text_between_blocks(read_behind_a_warp_barrier<Word, Meets::other_lane>, {4, 32, 4}, 10);
  EXPECT_TRUE(is_one_race(lanes)) << lanes;
}

TEST(EmulatedRaces, AreFoundWithinABlockInGlobalMemory) {
  const std::string stores = text_between_blocks(store_to_the_blocks_word<Word>, {4, 64, 4}, 10);
  EXPECT_TRUE(is_one_race(stores)) << stores;
  EXPECT_NE(stores.find("block 0, thread 7 writes"), std::string::npos) << stores;
  EXPECT_NE(stores.find("block 0, thread 39 writes"), std::string::npos) << stores;
  const std::string tree = text_between_blocks(tree_in_global_memory<Word, false>, {4, 64, 4}, 10);
  EXPECT_TRUE(is_one_race(tree)) << tree;
  EXPECT_EQ(text_between_blocks(tree_in_global_memory<Word, true>, {4, 64, 4}, 10), "");
}

TEST(EmulatedRaces, LeaveReadsOfTheUnwrittenAFaultOfTheirOwn) {
  const std::string text = text_between_blocks(read_unwritten<Word>, {4, 64, 4}, 50);
  EXPECT_TRUE(text.starts_with("uninitialised read in ")) << text;
  EXPECT_NE(text.find("block 0, thread 0 reads 4-byte word 32 "), std::string::npos) << text;
}

}  // namespace
