/// Races of a block's threads, and kernels without one that are much like them.
#include <gtest/gtest.h>

#include "device/cuda_or_emulated.cuh"
#include "device/vector.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<unsigned>;

// ---- barriers of a block, of a warp, and of parts of one ----

enum class Between { nothing, block_barrier, warp_barrier, half_warp_barriers, shuffle };

/// Each thread reads what another one has written, with this between the two.
__global__ void exchange(unsigned* out, Between between, unsigned distance) {
  __shared__ unsigned cells[64];
  const unsigned tid = threadIdx.x;
  cells[tid] = 0;
  __syncthreads();
  cells[tid] = tid;  // one
  switch (between) {
    case Between::nothing: break;
    case Between::block_barrier: __syncthreads(); break;
    case Between::warp_barrier: __syncwarp(); break;
    case Between::half_warp_barriers: __syncwarp(tid % 32 < 16 ? 0x0000ffff : 0xffff0000); break;
    case Between::shuffle: __shfl_sync(0xffffffff, 0, 0); break;
  }
  out[tid] = cells[tid ^ distance];  // two
}

void launch_exchange(Between between, unsigned distance) {
  exchange<<<1, 64>>>(Words{64}, between, distance);
}

TEST(RaceInABlock, IsNoneBehindABarrierOfBoth) {
  expect_finding([] {
    launch_exchange(Between::nothing, 0);
    launch_exchange(Between::block_barrier, 1);
    launch_exchange(Between::block_barrier, 32);
    launch_exchange(Between::warp_barrier, 1);
    launch_exchange(Between::warp_barrier, 16);
    launch_exchange(Between::half_warp_barriers, 8);
  });
}

TEST(RaceInABlock, IsOfThreadsWithoutABarrierOfBoth) {
  // race in exchange: block 0, thread ... writes ... at one; block 0, thread ... reads it at two; help: put a
  // `__syncwarp()` between the read and the write; see warp_synchronous_tail
  expect_finding([] { launch_exchange(Between::nothing, 1); });
  expect_finding([] { launch_exchange(Between::shuffle, 1); });
  // race in exchange: block 0, thread ... writes ... at one; block 0, thread ... reads it at two; help: put one
  // more `__syncwarp()` between the read and the write; see one_syncwarp_a_level
  expect_finding([] { launch_exchange(Between::half_warp_barriers, 16); });
  // race in exchange: block 0, thread ... writes ... at one; block 0, thread ... reads it at two; help: put a
  // `__syncthreads()` between the read and the write, where all threads of the block reach it; see
  // no_barrier_between_levels
  expect_finding([] { launch_exchange(Between::nothing, 32); });
  expect_finding([] { launch_exchange(Between::warp_barrier, 32); });
}

/// Three lanes pass a word on: 0 to 1 behind one barrier, 1 to 2 behind another. 0 and 2 never meet.
__global__ void relay(bool second_barrier) {
  __shared__ unsigned cell;
  const unsigned tid = threadIdx.x;
  if (tid == 0) cell = 1;  // one
  if (tid < 2) __syncwarp(0b011);
  if (tid == 1 || tid == 2) {
    if (second_barrier) __syncwarp(0b110);
  }
  if (tid == 2) cell = 2;  // two
}

TEST(RaceInABlock, FollowsBarriersOfPartsOfAWarp) {
  expect_finding([] { relay<<<1, 32>>>(true); });
  // race in relay: block 0, thread 0 writes ... at one; block 0, thread 2 writes it at two
  expect_finding([] { relay<<<1, 32>>>(false); });
}

/// Two warps read the word that thread 0 then overwrites. A barrier of its own warp does not wait for the other.
__global__ void overwrite_what_two_warps_read(unsigned* out, bool block_barrier) {
  __shared__ unsigned cell;
  if (threadIdx.x == 0) cell = 1;
  __syncthreads();
  out[threadIdx.x] = cell;  // one
  if (block_barrier) {
    __syncthreads();
  } else {
    __syncwarp();
  }
  if (threadIdx.x == 0) cell = 2;  // two
}

TEST(RaceInABlock, IsWithAReaderOfAnotherWarpBehindABarrierOfOnesOwn) {
  expect_finding([] { overwrite_what_two_warps_read<<<1, 64>>>(Words{64}, true); });
  // race in overwrite_what_two_warps_read: block 0, thread ... reads ... at one; block 0, thread 0 writes it at two
  expect_finding([] { overwrite_what_two_warps_read<<<1, 64>>>(Words{64}, false); });
}

/// Lane 1 reads the word, meets lane 0, which then overwrites it, and may read it once more.
__global__ void read_before_and_after_a_part_meets(unsigned* out, bool again) {
  __shared__ unsigned cell;
  const unsigned tid = threadIdx.x;
  if (tid == 0) cell = 1;
  __syncwarp();
  if (tid == 1) out[0] = cell;
  if (tid < 2) __syncwarp(0b11);
  if (tid == 1 && again) out[0] = cell;  // one
  if (tid == 0) cell = 2;                // two
}

TEST(RaceInABlock, IsWithWhatALaneReadsAfterAPartOfItsWarpHasMet) {
  expect_finding([] { read_before_and_after_a_part_meets<<<1, 32>>>(Words{1}, false); });
  // race in read_before_and_after_a_part_meets: block 0, thread 1 reads ... at one; block 0, thread 0 writes it at two
  expect_finding([] { read_before_and_after_a_part_meets<<<1, 32>>>(Words{1}, true); });
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

TEST(RaceInABlock, IsNoneWhereEachWarpHasAnOrderOfItsOwn) {
  expect_finding([] { read_in_parts_of_two_warps<<<1, 64>>>(DeviceArray<int>{2}); });
}

// ---- atomics ----

__global__ void add_beside_a_store(unsigned* out, bool barrier) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;  // one
  if (barrier) __syncthreads();
  atomicAdd(&sum, 1);  // two
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum;
}

__global__ void add_beside_a_load(unsigned* out, bool barrier) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = sum;  // one
  if (barrier) __syncthreads();
  atomicAdd(&sum, 1);  // two
}

TEST(RaceInABlock, IsOfAnAtomicWithAStoreOrALoad) {
  for (const unsigned block : {2U, 32U, 64U, 256U}) {
    expect_finding([&] {
      add_beside_a_store<<<1, block>>>(Words{1}, true);
      add_beside_a_load<<<1, block>>>(Words{1}, true);
    });
    // race in add_beside_a_store: block 0, thread 0 writes ... at one; block 0, thread ... atomically updates it at two
    expect_finding([&] { add_beside_a_store<<<1, block>>>(Words{1}, false); });
    // race in add_beside_a_load: block 0, thread 0 reads ... at one; block 0, thread ... atomically updates it at two
    expect_finding([&] { add_beside_a_load<<<1, block>>>(Words{1}, false); });
  }
}

/// As the Programming Guide adds numbers of a type that no atomic has: its first read is no atomic.
__global__ void add_by_comparing(int* sum) {
  int seen = *sum;  // one
  int expected;
  do {
    expected = seen;
    seen = atomicCAS(sum, expected, expected + 1);  // two
  } while (seen != expected);
}

TEST(RaceInABlock, IsOfAReadBesideAnAtomic) {
  // race in add_by_comparing: block 0, thread ... reads ... at one; block 0, thread ... atomically updates it at two;
  // help: put a `__syncwarp()` between the read and the atomic update; if they are meant to meet, as before a loop of
  // `atomicCAS()`, read by an atomic, too, as in `atomicAdd(&word, 0)`
  expect_finding([] { add_by_comparing<<<1, 32>>>(DeviceArray<int>{1}); });
  // race in add_by_comparing: block 0, thread 0 ...; block 1, thread 0 ...; help: blocks run in any order: read in the
  // next launch, or read by an atomic, too, as in `atomicAdd(&word, 0)`
  expect_finding([] { add_by_comparing<<<4, 1>>>(DeviceArray<int>{1}); });
}

// ---- locks and flags ----

enum class Lock { correct, correct_for_the_block, without_fence, opened_by_a_store, one_of_two };

/// Threads of two warps count under a lock, in shared memory or global memory.
template <Lock lock, bool in_shared>
__global__ void count_under_a_lock(unsigned* out, unsigned* global_locks) {
  __shared__ unsigned shared_locks[2];
  __shared__ unsigned shared_count;
  unsigned* const locks = in_shared ? shared_locks : global_locks;
  unsigned* const count = in_shared ? &shared_count : out;
  const unsigned tid = threadIdx.x;
  if (tid < 2) shared_locks[tid] = 0;
  if (tid == 0) shared_count = 0;
  __syncthreads();
  if (tid % 4 == 0) {
    unsigned* const mine = &locks[lock == Lock::one_of_two ? tid / 4 % 2 : 0];
    while (atomicCAS(mine, 0U, 1U) != 0) {
    }
    *count += 1;
    if (lock == Lock::correct_for_the_block) {
      __threadfence_block();
    } else if (lock != Lock::without_fence) {
      __threadfence();
    }
    if (lock == Lock::opened_by_a_store) {
      *static_cast<volatile unsigned*>(mine) = 0;
    } else {
      atomicExch(mine, 0U);
    }
  }
  __syncthreads();
  if (in_shared && tid == 0) out[0] = shared_count;
}

template <Lock lock> void launch_under_locks() {
  const Words out{1};
  count_under_a_lock<lock, false><<<1, 64>>>(out, Words{2});
  EXPECT_EQ(out[0], 16U);
  count_under_a_lock<lock, true><<<1, 64>>>(out, Words{2});
  EXPECT_EQ(out[0], 16U);
}

TEST(RaceInABlock, IsNoneUnderALockThatIsOpenedBehindAFence) {
  expect_finding(launch_under_locks<Lock::correct>);
  expect_finding(launch_under_locks<Lock::correct_for_the_block>);
  // races
  expect_finding([] { count_under_a_lock<Lock::without_fence, false><<<1, 64>>>(Words{1}, Words{2}); });
  expect_finding([] { count_under_a_lock<Lock::without_fence, true><<<1, 64>>>(Words{1}, Words{2}); });
  expect_finding([] { count_under_a_lock<Lock::opened_by_a_store, false><<<1, 64>>>(Words{1}, Words{2}); });
  expect_finding([] { count_under_a_lock<Lock::opened_by_a_store, true><<<1, 64>>>(Words{1}, Words{2}); });
  expect_finding([] { count_under_a_lock<Lock::one_of_two, false><<<1, 64>>>(Words{1}, Words{2}); });
  expect_finding([] { count_under_a_lock<Lock::one_of_two, true><<<1, 64>>>(Words{1}, Words{2}); });
}

enum class Flag { correct, without_fence, fence_too_early, other_word, volatile_load };

/// The second warp writes what the first one reads once it has seen the flag, and takes back what it has read.
template <Flag flag> __global__ void hand_over_by_a_flag(unsigned* out) {
  __shared__ unsigned data[32];
  __shared__ unsigned flags[2];
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x < 2) flags[threadIdx.x] = 0;
  __syncthreads();
  unsigned* const seen = &flags[flag == Flag::other_word ? 1 : 0];
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
        while (*static_cast<volatile unsigned*>(seen) == 0) {
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

TEST(RaceInABlock, IsNoneBetweenWarpsThatAFlagOrders) {
  expect_finding([] { hand_over_by_a_flag<Flag::correct><<<1, 64>>>(Words{32}); });
  // races
  expect_finding([] { hand_over_by_a_flag<Flag::without_fence><<<1, 64>>>(Words{32}); });
  expect_finding([] { hand_over_by_a_flag<Flag::fence_too_early><<<1, 64>>>(Words{32}); });
  expect_finding([] { hand_over_by_a_flag<Flag::other_word><<<1, 64>>>(Words{32}); });
  expect_finding([] { hand_over_by_a_flag<Flag::volatile_load><<<1, 64>>>(Words{32}); });
}

/// Readers of several warps go on before the writer may: each of them counts itself first.
__global__ void write_after_all_have_read(unsigned* out, bool fence) {
  __shared__ unsigned data;
  __shared__ unsigned readers;
  if (threadIdx.x == 0) data = 1, readers = 0;
  __syncthreads();
  if (threadIdx.x % 32 < 2 && threadIdx.x != 0) {
    out[threadIdx.x] = data;  // one
    if (fence || threadIdx.x != 65) __threadfence_block();
    atomicAdd(&readers, 1U);
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(&readers, 0U) != 5) {
    }
    data = 2;  // two
  }
}

TEST(RaceInABlock, IsWithEachOfTheReadersOfSeveralWarps) {
  expect_finding([] { write_after_all_have_read<<<1, 96>>>(Words{96}, true); });
  // race in write_after_all_have_read: block 0, thread 65 reads ... at one; block 0, thread 0 writes it at two
  expect_finding([] { write_after_all_have_read<<<1, 96>>>(Words{96}, false); });
}

// ---- what a race's one line does, and where it is ----

__global__ void store_to_the_blocks_word(unsigned* out) {
  if (threadIdx.x % 32 == 7) out[blockIdx.x] = 1;  // one
}

TEST(RaceInABlock, IsOfManyWriters) {
  // race in store_to_the_blocks_word: block 0, thread 7 writes 4-byte word 0 of a global buffer (4 words) at one; block
  // 0, thread 39 writes it at one; help: give each thread a word of its own, or let one thread write; between two
  // passes of a loop, put a `__syncthreads()`
  expect_finding([] { store_to_the_blocks_word<<<4, 64>>>(Words{4}); });
}

__global__ void load_a_vector_beside_a_store(unsigned* out, bool barrier) {
  if (threadIdx.x == 0) out[3] = 1;  // one
  if (barrier) __syncthreads();
  if (threadIdx.x == 32) out[4] = load_vector(out, 0).elements[0];  // two
}

TEST(RaceInABlock, OfAVectorIsOfEachWord) {
  expect_finding([] { load_a_vector_beside_a_store<<<1, 64>>>(Words{8}, true); });
  // race in load_a_vector_beside_a_store
  expect_finding([] { load_a_vector_beside_a_store<<<1, 64>>>(Words{8}, false); });
}

}  // namespace
