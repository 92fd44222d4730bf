/// What a race is does not depend on the schedule, on host threads or on time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/order/fence_order.hpp"

namespace {

using namespace __emulated;
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

// ---- orders other than barriers ----

enum class Lock { correct, correct_for_the_block, without_fence, opened_by_a_store, one_of_two };

/// Threads of two warps count under a lock, in shared memory or global memory.
template <typename T, Lock lock, bool in_shared> __global__ void count_under_a_lock(T* out, T* global_locks) {
  __shared__ T shared_locks[2];
  __shared__ T shared_count;
  T* const locks = in_shared ? shared_locks : global_locks;
  T* const count = in_shared ? &shared_count : out;
  const unsigned tid = threadIdx.x;
  if (tid < 2) shared_locks[tid] = 0;
  if (tid == 0) shared_count = 0;
  __syncthreads();
  if (tid % 4 == 0) {
    T* const mine = &locks[lock == Lock::one_of_two ? tid / 4 % 2 : 0];
    while (atomicCAS(mine, 0U, 1U) != 0) {
    }
    *count += 1;
    if (lock == Lock::correct_for_the_block) {
      __threadfence_block();
    } else if (lock != Lock::without_fence) {
      __threadfence();
    }
    if (lock == Lock::opened_by_a_store) {
      *static_cast<volatile T*>(mine) = 0;
    } else {
      atomicExch(mine, 0U);
    }
  }
  __syncthreads();
  if (in_shared && tid == 0) out[0] = shared_count;
}

template <Lock lock> void expect_of_a_lock(const std::string& verdict) {
  Words out{1};
  Words locks{2};
  const auto faults = [&](auto kernel) {
    return agreed([&] {
      out[0] = locks[0] = locks[1] = 0;
      std::string text = faults_of([&] { launch({1, 64, 0}, kernel, out, locks); });
      if (text.empty() && out[0] != 16) text = "a count of " + std::to_string(out[0]);
      return text.substr(0, 4);  // one race or more
    });
  };
  EXPECT_EQ(faults(count_under_a_lock<Word, lock, false>), verdict);
  EXPECT_EQ(faults(count_under_a_lock<Word, lock, true>), verdict);
}

TEST(EmulatedRaces, AreNoneUnderALockThatIsOpenedBehindAFence) {
  expect_of_a_lock<Lock::correct>("");
  expect_of_a_lock<Lock::correct_for_the_block>("");
  expect_of_a_lock<Lock::without_fence>("race");
  expect_of_a_lock<Lock::opened_by_a_store>("race");
  expect_of_a_lock<Lock::one_of_two>("race");
}

enum class Flag { correct, without_fence, fence_too_early, other_word, volatile_load };

/// The second warp writes what the first one reads once it has seen the flag, and takes back what it has read.
template <typename T, Flag flag> __global__ void hand_over_by_a_flag(T* out, T*) {
  __shared__ T data[32];
  __shared__ T flags[2];
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 2) flags[threadIdx.x] = 0;
  __syncthreads();
  T* const seen = &flags[flag == Flag::other_word ? 1 : 0];
  if (threadIdx.x >= 32) {
    if (flag == Flag::other_word && lane == 0) atomicExch(&flags[1], 1U);
    if (flag == Flag::fence_too_early) __threadfence_block();
    data[lane] = lane;
    if (flag != Flag::without_fence && flag != Flag::fence_too_early) __threadfence_block();
    __syncwarp();
    if (lane == 0) atomicExch(&flags[0], 1U);
  } else {
    if (lane == 0) {
      if (flag == Flag::volatile_load) {
        while (*static_cast<volatile T*>(seen) == 0) {
        }
      } else {
        while (atomicAdd(seen, 0U) == 0) {
        }
      }
    }
    __syncwarp();
    out[lane] = data[31 - lane];
    data[31 - lane] = 0;
  }
}

TEST(EmulatedRaces, AreNoneBetweenWarpsThatAFlagOrders) {
  Words out{32};
  const auto verdict = [&](auto kernel) {
    return agreed([&] { return faults_of([&] { launch({1, 64, 0}, kernel, out, out); }).substr(0, 4); });
  };
  EXPECT_EQ(verdict(hand_over_by_a_flag<Word, Flag::correct>), "");
  EXPECT_EQ(verdict(hand_over_by_a_flag<Word, Flag::without_fence>), "race");
  EXPECT_EQ(verdict(hand_over_by_a_flag<Word, Flag::fence_too_early>), "race");
  EXPECT_EQ(verdict(hand_over_by_a_flag<Word, Flag::other_word>), "race");
  EXPECT_EQ(verdict(hand_over_by_a_flag<Word, Flag::volatile_load>), "race");
}

/// Readers of several warps go on before the writer may: each of them counts itself first.
template <typename T, bool fence> __global__ void write_after_all_have_read(T* out, T*) {
  __shared__ T data;
  __shared__ T readers;
  if (threadIdx.x == 0) data = 1, readers = 0;
  __syncthreads();
  if (threadIdx.x % 32 < 2 && threadIdx.x != 0) {
    out[threadIdx.x] = data;
    if (fence || threadIdx.x != 65) __threadfence_block();
    atomicAdd(&readers, 1U);
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(&readers, 0U) != 5) {
    }
    data = 2;
  }
}

TEST(EmulatedRaces, AreWithEachOfTheReadersOfSeveralWarps) {
  Words out{96};
  const auto verdict = [&](auto kernel) {
    return agreed([&] { return faults_of([&] { launch({1, 96, 0}, kernel, out, out); }); });
  };
  EXPECT_EQ(verdict(write_after_all_have_read<Word, true>), "");
  EXPECT_EQ(verdict(write_after_all_have_read<Word, false>), "race");
}

enum class Chain {
  same_word,
  through_a_block,
  past_the_block,
  other_word,
  fence_of_the_block,
  without_second_fence
};

/// Block 3 reads what a lower one has written: 0 releases it on word 0 of the locks, 2 as well, 1 passes on what it knows
/// on word 1.
template <typename T, Chain chain> __global__ void chain_of_blocks(T* out, T* locks) {
  const unsigned b = blockIdx.x;
  if (threadIdx.x != 0) return;
  if (b == 0 || b == 2) {
    out[b] = b;
    if (chain == Chain::fence_of_the_block) {
      __threadfence_block();
    } else {
      __threadfence();
    }
    atomicAdd(&locks[0], 1U);
  } else if (b == 1) {
    if (chain != Chain::other_word) atomicAdd(&locks[0], 1U);
    if (chain != Chain::without_second_fence) __threadfence();
    atomicAdd(&locks[1], 1U);
  } else {
    const bool is_direct = chain == Chain::same_word || chain == Chain::fence_of_the_block;
    atomicAdd(&locks[is_direct ? 0 : 1], 1U);
    out[b] = out[chain == Chain::past_the_block ? 2 : 0];
  }
}

TEST(EmulatedRaces, AreOrderedByAtomicsOnTheSameWord) {
  Words out{4};
  Words locks{2};
  const auto verdict = [&](auto kernel) {
    return agreed([&] { return faults_of([&] { launch({4, 32, 0}, kernel, out, locks); }); });
  };
  EXPECT_EQ(verdict(chain_of_blocks<Word, Chain::same_word>), "");
  EXPECT_EQ(verdict(chain_of_blocks<Word, Chain::through_a_block>), "");
  EXPECT_EQ(verdict(chain_of_blocks<Word, Chain::past_the_block>), "race");
  EXPECT_EQ(verdict(chain_of_blocks<Word, Chain::other_word>), "race");
  EXPECT_EQ(verdict(chain_of_blocks<Word, Chain::fence_of_the_block>), "race");
  EXPECT_EQ(verdict(chain_of_blocks<Word, Chain::without_second_fence>), "race");
}

enum class Carried { by_a_barrier, by_none, too_early };

/// Each lane stores a word behind which it puts a fence; lane 0 takes the ticket.
template <typename T, Carried carried> __global__ void sum_of_lanes(T* out, T* ticket) {
  const unsigned lane = threadIdx.x;
  if (carried == Carried::too_early) __syncwarp();
  out[blockIdx.x * 32 + lane] = lane;
  __threadfence();
  if (carried == Carried::by_a_barrier) __syncwarp();
  T number{};
  if (lane == 0) number = atomicAdd(ticket, 1U);
  number = __shfl_sync(0xffffffff, number, 0);
  __syncwarp();
  if (number != gridDim.x - 1) return;
  T sum{};
  for (unsigned i = 0; i < gridDim.x; ++i)
    sum += out[i * 32 + 31 - lane];
  out[gridDim.x * 32 + lane] = sum;
}

TEST(EmulatedRaces, AreNoneBehindAFenceThatAWarpBarrierCarries) {
  EXPECT_EQ(text_between_blocks(sum_of_lanes<Word, Carried::by_a_barrier>, {4, 32, 0}), "");
  const std::string none = text_between_blocks(sum_of_lanes<Word, Carried::by_none>, {4, 32, 0});
  EXPECT_TRUE(is_one_race(none)) << none;
  const std::string early = text_between_blocks(sum_of_lanes<Word, Carried::too_early>, {4, 32, 0});
  EXPECT_TRUE(is_one_race(early)) << early;
}

/// What the first finding of a launch says to be missing.
std::string help_between_blocks(const auto& kernel, LaunchConfig config) {
  Words out{512};
  Words ticket{1};
  return agreed([&] {
    ticket[0] = 0;
    try {
      launch(config, kernel, out, ticket);
    } catch (const KernelFinding& finding) {
      return finding.findings().front().help;
    }
    return std::string{};
  });
}

TEST(EmulatedRaces, SayWhatIsMissingBetweenAStoreAndTheTicket) {
  const std::string fence =
      "put a `__threadfence()` after the write in block 0, before the atomic that tells other blocks of it";
  const std::string barrier =
      "put a `__syncthreads()` between the write in block 0 and the atomic by which another of its threads "
      "tells "
      "other blocks of it";
  EXPECT_EQ(help_between_blocks(sum_of_sums<Word, Last::without_fence>, {4, 64, 4}), fence);
  EXPECT_EQ(help_between_blocks(sum_of_sums<Word, Last::fence_after_ticket>, {4, 64, 4}), fence);
  EXPECT_EQ(help_between_blocks(sum_of_sums_by_three_threads<Word, false>, {4, 64, 4}), fence);
  EXPECT_EQ(help_between_blocks(sum_of_lanes<Word, Carried::by_none>, {4, 32, 0}), barrier);
  EXPECT_EQ(help_between_blocks(sum_of_lanes<Word, Carried::too_early>, {4, 32, 0}), barrier);
}

// ---- whichever way a kernel comes by a pointer ----

struct Job {
  const Word* in;
  Word* out;
};

__device__ Word* pointer_of_the_program;

/// Each block stores a line of words and reads the next one's.
template <typename T> __device__ void store_and_read(T* to, const T* from) {
  const unsigned i = blockIdx.x * 32 + threadIdx.x;
  const T next = from[(i + 32) % 128];
  to[i] = next;
}
__global__ void by_a_table(Word* const* table, unsigned from) { store_and_read(table[0], table[from]); }
__global__ void by_a_struct(const Job* job) { store_and_read(job->out, job->in); }
__global__ void by_a_variable(const Word* in) { store_and_read(pointer_of_the_program, in); }
__global__ void by_const_cast(const Word* to, const Word* from) {
  store_and_read(const_cast<Word*>(to), from);
}

TEST(EmulatedRaces, AreFoundWhicheverWayAKernelComesByAPointer) {
  Words one{128};
  Words other{128};
  DeviceArray<Word*> table{2};
  table[0] = one;
  table[1] = other;
  DeviceArray<Job> jobs{2};
  jobs[0] = {one, one};
  jobs[1] = {other, one};
  pointer_of_the_program = one;
  const auto verdict = [&](auto kernel, auto... arguments) {
    return agreed([&] { return finding_of([&] { launch({4, 32, 0}, kernel, arguments...); }); });
  };
  const auto names = [](const std::string& text) {
    return is_one_race(text) &&
           text.find(": block 0, thread 0 writes 4-byte word 0 of a global buffer (128 words) ") !=
               std::string::npos &&
           text.find("; block 3, thread 0 reads it ") != std::string::npos;
  };
  EXPECT_PRED1(names, verdict(by_a_table, table.begin(), 0));
  EXPECT_PRED1(names, verdict(by_a_struct, jobs.begin()));
  EXPECT_PRED1(names, verdict(by_a_variable, one.begin()));
  EXPECT_PRED1(names, verdict(by_const_cast, one.begin(), one.begin()));
  EXPECT_EQ(verdict(by_a_table, table.begin(), 1), "");
  EXPECT_EQ(verdict(by_a_struct, jobs.begin() + 1), "");
  EXPECT_EQ(verdict(by_a_variable, other.begin()), "");
  EXPECT_EQ(verdict(by_const_cast, one.begin(), other.begin()), "");
}

/// Words that threads of several widths and orders touch, each of them by a thread that a finding has to name.
template <typename T> __global__ void store_in_an_order(T* to, unsigned order, unsigned from, unsigned into) {
  const unsigned tid = threadIdx.x;
  const unsigned place = order == 0 ? tid : order == 1 ? 63 - tid : tid * 5 % 64;
  const unsigned block = blockIdx.x == from && tid == 37 ? into : blockIdx.x;
  to[block * 64 + place] = T(tid);
}

TEST(EmulatedRaces, NameTheThreadsOfAnyOrder) {
  const auto text = [&](auto element, unsigned order, unsigned from, unsigned into) {
    using T = decltype(element);
    DeviceArray<T> to{8 * 64};
    return agreed([&] {
      return finding_of([&] { launch({8, 64, 0}, store_in_an_order<T>, to.begin(), order, from, into); });
    });
  };
  const auto names = [](const std::string& finding) {
    return is_one_race(finding) && finding.find("block 3, thread 37 writes ") != std::string::npos &&
           finding.find("; block 5, thread 37 writes it ") != std::string::npos;
  };
  for (const unsigned order : {0U, 1U, 2U}) {
    const auto expect = [&](auto element) {
      EXPECT_PRED1(names, text(element, order, 3, 5));
      EXPECT_PRED1(names, text(element, order, 5, 3));
      EXPECT_EQ(text(element, order, 5, 5), "");
    };
    expect(Word{});
    expect(std::uint64_t{});
    expect(std::uint8_t{});
  }
}

/// Lanes 0 and 1 of the first warp meet before a lane of the second warp reads the word, too.
__global__ void read_in_parts_of_two_warps(int* out) {
  __shared__ int word;
  __shared__ int flag;
  if (threadIdx.x == 0) word = flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = (__syncwarp(1), word);
  if (threadIdx.x < 2) __syncwarp(3);
  if (threadIdx.x == 32) {
    __syncwarp(1);
    out[1] = word;
    __threadfence_block();
    atomicExch(&flag, 1);
  }
  if (threadIdx.x == 1) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    word = 1;
  }
}

TEST(EmulatedRaces, AreNoneWhereEachWarpHasAnOrderOfItsOwn) {
  DeviceArray<int> out{2};
  for (const Order order : {Order::ascending, Order::descending, Order::random}) {
    set_schedule({order, 3});
    EXPECT_EQ(finding_of([&] { launch({1, 64, 0}, read_in_parts_of_two_warps, out.begin()); }), "");
  }
  set_schedule({});
}

/// Where threads of a block have acquired different words, a barrier makes one set of them, not one for each thread.
TEST(Sets, OfWordsAreNumberedOnceForABarrier) {
  constexpr unsigned threads = 1024;
  HappensBefore order{threads / 32};
  FenceOrder fences{order, threads};
  GridOrder grid;
  const std::vector<unsigned> words(threads);
  const auto update = [&](unsigned thread, unsigned word) {
    fences.atomic(thread, {reinterpret_cast<const std::byte*>(&words[word]), 4, true, true});
  };
  order.begin_block();
  fences.begin_block(0, grid);
  fences.fence(0, FenceScope::device);
  for (unsigned word = 0; word < threads; ++word)
    update(0, word);
  order.begin_block();
  fences.begin_block(1, grid);
  for (unsigned thread = 0; thread < threads; ++thread) {
    update(thread, thread);
    fences.fence(thread, FenceScope::device);
  }
  const auto next_number = [&, marker = std::byte{}] { return grid.number_of({&marker}); };
  const GridOrder::WordSet before = threads + 1;  // none, and one for each thread
  for (unsigned warp = 0; warp < threads / 32; ++warp)
    fences.warp_barrier(warp, ~0U);
  for (unsigned thread = 0; thread < threads; ++thread)
    EXPECT_EQ(fences.acquired(thread), before + thread / 32);
  fences.block_barrier();
  EXPECT_EQ(fences.acquired(0), before + threads / 32);
  EXPECT_EQ(fences.acquired(threads - 1), before + threads / 32);
  EXPECT_EQ(next_number(), before + threads / 32 + 1);
}

}  // namespace
