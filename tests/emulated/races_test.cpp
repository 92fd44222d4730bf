/// Races as kernels have them, and kernels without one that are much like them: of which lines and threads, whichever way a
/// kernel comes by a pointer, on one host thread and on several. What orders threads is in race_programs_test.cpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "device/cuda_or_emulated.cuh"
#include "device/vector.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<unsigned>;

/// Launches a kernel of a buffer and a ticket, by enough threads for four of the host. Of the buffer but the first word is
/// unwritten before.
std::function<void()> launch_of(void (*kernel)(unsigned*, unsigned*),
                                ExecutionConfiguration config = {128, 512}) {
  return [=] {
    Words out{512};
    out.forget(1, 511);
    kernel<<<config.grid, config.block>>>(out, Words{1});
  };
}

// ---- of which lines, and of which threads ----

__global__ void shuffle_and_read(unsigned* out) {
  __shared__ unsigned cells[64];
  cells[threadIdx.x] = threadIdx.x;  // one
  __shfl_sync(0xffffffff, 0, 0);
  out[threadIdx.x] = cells[threadIdx.x ^ 1];  // two
}

TEST(Race, IsNotPreventedByAShuffle) {
  // race in shuffle_and_read: block 0, thread ... writes ... at one; block 0, thread ... reads it at two; help: put a
  // `__syncwarp()` between the read and the write; see warp_synchronous_tail
  expect_finding([] { shuffle_and_read<<<1, 64>>>(Words{64}); });
}

__global__ void load_a_vector_beside_a_store(unsigned* out, bool barrier) {
  if (threadIdx.x == 0) out[3] = 1;  // one
  if (barrier) __syncthreads();
  if (threadIdx.x == 32) out[4] = load_vector(out, 0).elements[0];  // two
}

TEST(Race, OfAVectorIsOfEachWord) {
  expect_finding([] { load_a_vector_beside_a_store<<<1, 64>>>(Words{8}, true); });
  // race in load_a_vector_beside_a_store
  expect_finding([] { load_a_vector_beside_a_store<<<1, 64>>>(Words{8}, false); });
}

__global__ void store_to(unsigned* out, unsigned words) {
  out[(blockIdx.x * blockDim.x + threadIdx.x) % words] = 1;  // one
}

TEST(Race, IsOfTwoStores) {
  expect_finding([] { store_to<<<2, 32>>>(Words{64}, 64); });
  expect_finding([] {  // a launch after another
    const Words out{32};
    store_to<<<1, 32>>>(out, 32);
    store_to<<<1, 32>>>(out, 32);
  });
  // race in store_to: block 0, thread 0 writes 4-byte word 0 of a global buffer (64 words) at one; block 0, thread 16
  // writes it at one; help: give each thread a word of its own, or let one thread write; between two passes of a loop,
  // put a `__syncwarp()`
  expect_finding([] { store_to<<<1, 32>>>(Words{64}, 16); });
  // race in store_to: block 0, thread 0 writes ... at one; block 0, thread 32 writes it at one; help: ... put a
  // `__syncthreads()`
  expect_finding([] { store_to<<<1, 64>>>(Words{64}, 32); });
  // race in store_to: block 0, thread 0 writes ... at one; block 1, thread 0 writes it at one
  expect_finding([] { store_to<<<4096, 32>>>(Words{32}, 32); });
}

/// Words that threads of several widths and orders touch, each of them by a thread that a finding has to name.
template <typename T> __global__ void store_in_an_order(T* to, unsigned order, unsigned from, unsigned into) {
  const unsigned tid = threadIdx.x;
  const unsigned place = order == 0 ? tid : order == 1 ? 63 - tid : tid * 5 % 64;
  const unsigned block = blockIdx.x == from && tid == 37 ? into : blockIdx.x;
  to[block * 64 + place] = T(tid);  // one
}

template <typename T> void expect_the_threads_of_any_order() {
  for (const unsigned order : {0U, 1U, 2U}) {
    // race in store_in_an_order: block 3, thread 37 writes ... at one; block 5, thread 37 writes it at one
    expect_finding([=] { store_in_an_order<T><<<8, 64>>>(DeviceArray<T>{512}, order, 3, 5); });
    expect_finding([=] { store_in_an_order<T><<<8, 64>>>(DeviceArray<T>{512}, order, 5, 3); });
    // no finding
    expect_finding([=] { store_in_an_order<T><<<8, 64>>>(DeviceArray<T>{512}, order, 5, 5); });
  }
}

TEST(Race, NamesTheThreadsOfAnyOrder) {
  expect_the_threads_of_any_order<unsigned>();
  expect_the_threads_of_any_order<std::uint64_t>();
  expect_the_threads_of_any_order<std::uint8_t>();
}

// ---- whichever way a kernel comes by a pointer ----

struct Job {
  const unsigned* in;
  unsigned* out;
};

__device__ unsigned* pointer_of_the_program;

/// Each block stores a line of words and reads the next one's.
__device__ void store_and_read(unsigned* to, const unsigned* from) {
  const unsigned i = blockIdx.x * 32 + threadIdx.x;
  const unsigned next = from[(i + 32) % 128];  // two
  to[i] = next;                                // one
}
__global__ void by_a_table(unsigned* const* table, unsigned from) { store_and_read(table[0], table[from]); }
__global__ void by_a_struct(const Job* job) { store_and_read(job->out, job->in); }
__global__ void by_a_variable(const unsigned* in) { store_and_read(pointer_of_the_program, in); }
__global__ void by_const_cast(const unsigned* to, const unsigned* from) {
  store_and_read(const_cast<unsigned*>(to), from);
}

TEST(Race, IsFoundWhicheverWayAKernelComesByAPointer) {
  const Words one{128};
  const Words other{128};
  const DeviceArray<unsigned*> table{2};
  table[0] = one;
  table[1] = other;
  const DeviceArray<Job> jobs{2};
  jobs[0] = {one, one};
  jobs[1] = {other, one};
  pointer_of_the_program = one;
  // race in by_a_...: block 0, thread 0 writes 4-byte word 0 of a global buffer (128 words) at one; block 3, thread 0
  // reads it at two
  expect_finding([&] { by_a_table<<<4, 32>>>(table, 0U); });
  expect_finding([&] { by_a_struct<<<4, 32>>>(jobs); });
  expect_finding([&] { by_a_variable<<<4, 32>>>(one); });
  // race in by_const_cast: block 0, thread 0 writes ... at one; block 3, thread 0 reads it at two
  expect_finding([&] { by_const_cast<<<4, 32>>>(one, one); });
  // no finding
  expect_finding([&] {
    by_a_table<<<4, 32>>>(table, 1U);
    by_a_struct<<<4, 32>>>(jobs + 1);
    by_a_variable<<<4, 32>>>(other);
    by_const_cast<<<4, 32>>>(one, other);
  });
}

// ---- what blocks tell each other ----

/// Every block stores its sum; the last one adds them.
template <bool fence> __global__ void sum_of_sums(unsigned* out, unsigned* ticket) {
  __shared__ unsigned number;
  if (threadIdx.x == 0) {
    out[blockIdx.x] = blockIdx.x;  // one
    if (fence) __threadfence();
    number = atomicAdd(ticket, 1);
  }
  __syncthreads();
  if (number == gridDim.x - 1 && threadIdx.x == 0) {
    unsigned sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i)
      sum += out[i];  // two
    out[gridDim.x] = sum;
    *ticket = 0;
  }
}

TEST(Race, IsNoneOfBlocksBehindFenceAndTicket) {
  expect_finding(launch_of(sum_of_sums<true>));
  // race in sum_of_sums: block 0, thread 0 writes 4-byte word 0 of a global buffer (512 words) at one; block ..., thread 0
  // reads it at two; help: put a `__threadfence()` after the write in block 0, before the atomic that tells other blocks of
  // it; see ticket_without_a_fence
  expect_finding(launch_of(sum_of_sums<false>));
}

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

TEST(Race, IsOfAFlagThatIsStored) {
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
TEST(Race, IsOfAVolatileFlag) {
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

TEST(Race, IsOfALookBackByAFlagThatIsStored) {
  // race in look_back: ... at one; ... at two; help: the `__threadfence()` after the write in block 0 tells nobody
  // and race in look_back: ... at flag; ... at wait; help: ... if it is a flag, write it by an atomic
  expect_finding([] { look_back<<<4, 32>>>(Words{512}, Words{1}); });
}

}  // namespace
