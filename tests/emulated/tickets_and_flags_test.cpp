/// Blocks that tell each other of what they have written, by a ticket or a flag, and what they forget.
#include <gtest/gtest.h>

#include <functional>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<unsigned>;

/// Launches a kernel of a buffer and a ticket. The buffer's words after the first are unwritten before.
std::function<void()> launch_of(void (*kernel)(unsigned*, unsigned*), ExecutionConfiguration config) {
  return [=] {
    Words out{512};
    out.forget(1, 511);
    kernel<<<config.grid, config.block>>>(out, Words{1});
  };
}

const ExecutionConfiguration small{4, 64};
const ExecutionConfiguration large{128, 512};  // enough threads for four of the host

// ---- a fence and a ticket ----

enum class Last { fence, fence_by_all, without_fence, fence_after_ticket, by_number };

/// Every block stores its sum; the last one adds them.
template <Last last> __global__ void sum_of_sums(unsigned* out, unsigned* ticket) {
  __shared__ unsigned number;
  const unsigned tid = threadIdx.x;
  if (tid == 0) {
    out[blockIdx.x] = blockIdx.x;  // one
    if (last == Last::fence) __threadfence();
  }
  if (last == Last::fence_by_all) {
    __threadfence();
    __syncthreads();
  }
  if (tid == 0) {
    number = last == Last::by_number ? blockIdx.x : atomicAdd(ticket, 1);
    if (last == Last::fence_after_ticket) __threadfence();
  }
  __syncthreads();
  if (number == gridDim.x - 1 && tid == 0) {
    unsigned sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i)
      sum += out[i];  // two
    out[gridDim.x] = sum;
    *ticket = 0;
  }
}

TEST(TicketRace, IsNoneBehindFenceAndTicket) {
  expect_finding(launch_of(sum_of_sums<Last::fence>, small));
  expect_finding(launch_of(sum_of_sums<Last::fence>, large));
  expect_finding(launch_of(sum_of_sums<Last::fence_by_all>, small));
}

TEST(TicketRace, IsOfATicketWithoutAFenceBeforeIt) {
  // race in sum_of_sums: block 0, thread 0 writes ... at one; block ..., thread 0 reads it at two; help: put a
  // `__threadfence()` after the write in block 0, before the atomic that tells other blocks of it; see
  // ticket_without_a_fence
  expect_finding(launch_of(sum_of_sums<Last::without_fence>, large));
  expect_finding(launch_of(sum_of_sums<Last::fence_after_ticket>, large));
  // races
  expect_finding(launch_of(sum_of_sums<Last::by_number>, large));
}

/// The same by three threads: one stores the sum, another takes the ticket, a third adds the sums. A fence orders only
/// what its thread did before.
template <bool fence_comes_last> __global__ void sum_of_sums_by_three(unsigned* out, unsigned* ticket) {
  __shared__ unsigned number;
  const unsigned tid = threadIdx.x;
  if (tid == 40) {
    if (!fence_comes_last) __threadfence();
    out[blockIdx.x] = blockIdx.x;  // one
    if (fence_comes_last) __threadfence();
  }
  __syncthreads();
  if (tid == 0) number = atomicAdd(ticket, 1);
  __syncthreads();
  if (number == gridDim.x - 1 && tid == 33) {
    unsigned sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i)
      sum += out[i];  // two
    out[256] = sum;
  }
}

TEST(TicketRace, IsOfWhatAThreadStoredAfterItsFence) {
  expect_finding(launch_of(sum_of_sums_by_three<true>, small));
  // race in sum_of_sums_by_three: block 0, thread 40 writes ... at one; block 3, thread 33 reads it at two; help: put a
  // `__threadfence()` after the write in block 0, before the atomic that tells other blocks of it; see
  // ticket_without_a_fence
  expect_finding(launch_of(sum_of_sums_by_three<false>, small));
}

/// Thread 0 publishes what thread 32 of the last block reads without having heard of a ticket: it has not met thread 0
/// of its block, which has one, or nobody in its block has one.
template <bool last_block_has_one> __global__ void read_without_a_ticket(unsigned* out, unsigned* ticket) {
  const bool is_last = blockIdx.x == gridDim.x - 1;
  if (threadIdx.x == 0 && (!is_last || last_block_has_one)) {
    out[blockIdx.x] = blockIdx.x;  // one
    __threadfence();
    atomicAdd(ticket, 1);
  }
  if (!last_block_has_one) __syncthreads();
  if (threadIdx.x == 32 && is_last) out[256] = out[0];  // two
}

enum class Meets { lane_with_ticket, other_lane };

/// Lane 1 reads the blocks' words after a barrier of its warp, with lane 0, which has the ticket, or without it.
template <Meets meets> __global__ void read_behind_a_warp_barrier(unsigned* out, unsigned* ticket) {
  __shared__ unsigned number;
  const unsigned tid = threadIdx.x;
  if (tid == 0) {
    out[blockIdx.x] = blockIdx.x;  // one
    __threadfence();
    number = atomicAdd(ticket, 1);
  }
  bool is_last = blockIdx.x == gridDim.x - 1;
  if (meets == Meets::lane_with_ticket) {
    __syncwarp();
    is_last = number == gridDim.x - 1;
  } else if (tid == 1 || tid == 2) {
    __syncwarp(0b110);
  }
  if (is_last && tid == 1) {
    unsigned sum = 0;
    for (unsigned i = 0; i < gridDim.x - 1; ++i)
      sum += out[i];  // two
    out[256] = sum;
  }
}

TEST(TicketRace, IsWithAThreadThatHasNotHeardOfATicket) {
  // race in read_without_a_ticket: block 0, thread 0 writes ... at one; block 3, thread 32 reads it at two
  expect_finding(launch_of(read_without_a_ticket<true>, small));
  expect_finding(launch_of(read_without_a_ticket<false>, small));
  // no finding
  expect_finding(launch_of(read_behind_a_warp_barrier<Meets::lane_with_ticket>, {4, 32}));
  // race in read_behind_a_warp_barrier: block 0, thread 0 writes ... at one; block 3, thread 1 reads it at two
  expect_finding(launch_of(read_behind_a_warp_barrier<Meets::other_lane>, {4, 32}));
}

enum class Carried { by_a_barrier, by_none, too_early };

/// Each lane stores a word behind which it puts a fence; lane 0 takes the ticket.
template <Carried carried> __global__ void sum_of_lanes(unsigned* out, unsigned* ticket) {
  const unsigned lane = threadIdx.x;
  if (carried == Carried::too_early) __syncwarp();
  out[blockIdx.x * 32 + lane] = lane;  // one
  __threadfence();
  if (carried == Carried::by_a_barrier) __syncwarp();
  unsigned number = 0;
  if (lane == 0) number = atomicAdd(ticket, 1U);
  number = __shfl_sync(0xffffffff, number, 0);
  __syncwarp();
  if (number != gridDim.x - 1) return;
  unsigned sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i)
    sum += out[i * 32 + 31 - lane];  // two
  out[gridDim.x * 32 + lane] = sum;
}

TEST(TicketRace, IsNoneBehindAFenceThatAWarpBarrierCarries) {
  expect_finding(launch_of(sum_of_lanes<Carried::by_a_barrier>, {4, 32}));
  // race in sum_of_lanes: block 0, thread ... writes ... at one; block 3, thread ... reads it at two; help: put a
  // `__syncthreads()` between the write in block 0 and the atomic by which another of its threads tells other blocks
  // of it
  expect_finding(launch_of(sum_of_lanes<Carried::by_none>, {4, 32}));
  expect_finding(launch_of(sum_of_lanes<Carried::too_early>, {4, 32}));
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
template <Chain chain> __global__ void chain_of_blocks(unsigned* out, unsigned* locks) {
  const unsigned b = blockIdx.x;
  if (threadIdx.x != 0) return;
  if (b == 0 || b == 2) {
    out[b] = b;  // one
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
    out[b] = out[chain == Chain::past_the_block ? 2 : 0];  // two
  }
}

template <Chain chain> void launch_chain() { chain_of_blocks<chain><<<4, 32>>>(Words{4}, Words{2}); }

TEST(TicketRace, IsNoneBehindAtomicsOnTheSameWord) {
  expect_finding(launch_chain<Chain::same_word>);
  expect_finding(launch_chain<Chain::through_a_block>);
  // race in chain_of_blocks: block 2, thread 0 writes ... at one; block 3, thread 0 reads it at two
  expect_finding(launch_chain<Chain::past_the_block>);
  // race in chain_of_blocks: block 0, thread 0 writes ... at one; block 3, thread 0 reads it at two
  expect_finding(launch_chain<Chain::other_word>);
  expect_finding(launch_chain<Chain::fence_of_the_block>);
  expect_finding(launch_chain<Chain::without_second_fence>);
}

// ---- flags ----

/// Hands a value over by a flag that is stored.
template <typename Flag, bool fence>
__global__ void hand_over_by_a_store(unsigned* value, unsigned* plain_flag) {
  Flag* const flag = plain_flag;
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    value[0] = 42;  // one
    if (fence) __threadfence();
    *flag = 1;  // flag
  } else {
    while (*flag == 0) {  // wait
    }
    value[1] = value[0];  // two
  }
}

TEST(TicketRace, IsOfAFlagThatIsStored) {
  // race in hand_over_by_a_store: ... at one; ... at two; help: the `__threadfence()` after the write in block 0 tells
  // nobody of it: let an atomic behind it do so, such as `atomicExch(&flag, 1)`, and the other block ask by one, such
  // as `atomicAdd(&flag, 0)`
  // and race in hand_over_by_a_store: ... at flag; ... at wait; help: blocks run in any order: read in the next launch,
  // or in the block that a ticket shows to be the last, as in beyond/10_single_pass; if it is a flag, write it by an
  // atomic, such as `atomicExch(&flag, 1)`, and read it by one, such as `atomicAdd(&flag, 0)`: `volatile` orders
  // nothing and makes nothing atomic
  expect_finding(launch_of(hand_over_by_a_store<unsigned, true>, {2, 32}));
  expect_finding(launch_of(hand_over_by_a_store<volatile unsigned, true>, {2, 32}));
}

/// Without a fence, only `volatile` says that a word may be a flag.
TEST(TicketRace, IsOfAVolatileFlag) {
  // race in hand_over_by_a_store: ... at one; ... at two; help: blocks run in any order: read in the next launch, or in
  // the block that a ticket shows to be the last, as in beyond/10_single_pass
  // and race in hand_over_by_a_store: ... at flag; ... at wait; help: ... beyond/10_single_pass; if it is a flag, write
  // it by an atomic
  expect_finding(launch_of(hand_over_by_a_store<volatile unsigned, false>, {2, 32}));
  // race in hand_over_by_a_store: ... at one; ... at two; help: ... beyond/10_single_pass.
  // and race in hand_over_by_a_store: ... at flag; ... at wait; help: ... beyond/10_single_pass.
  expect_finding(launch_of(hand_over_by_a_store<unsigned, false>, {2, 32}));
}

/// Sums of all blocks up to each: it waits for the flag of the one before it.
__global__ void look_back(unsigned* sums, unsigned* blocks) {
  volatile unsigned* const flags = sums + 256;
  if (threadIdx.x != 0) return;
  const unsigned b = atomicAdd(blocks, 1U);
  unsigned sum = b;
  if (b > 0) {
    while (flags[b - 1] == 0) {  // wait
    }
    sum += sums[b - 1];  // two
  }
  sums[b] = sum;  // one
  __threadfence();
  flags[b] = 1;  // flag
}

TEST(TicketRace, IsOfALookBackByAFlagThatIsStored) {
  // race in look_back: ... at one; ... at two; help: the `__threadfence()` after the write in block 0 tells nobody
  // and race in look_back: ... at flag; ... at wait; help: ... if it is a flag, write it by an atomic
  expect_finding([] { look_back<<<4, 32>>>(Words{512}, Words{1}); });
}

}  // namespace
