/// Races as kernels have them, and kernels without one that are much like them: of which lines and threads, on one host
/// thread and on several. What orders threads is in race_programs_test.cpp.
#include <gtest/gtest.h>

#include <cstdint>

#include "device/cuda_or_emulated.cuh"
#include "device/vector.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<unsigned>;

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

// ---- what blocks tell each other ----

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

/// From block 0 to block 1.
template <typename Flag, bool fence> void hand_over() {
  hand_over_by_a_store<Flag, fence><<<2, 32>>>(Words{2}, Words{1});
}

TEST(Race, IsOfAFlagThatIsStored) {
  // race in hand_over_by_a_store: ... at one; ... at two; help: the `__threadfence()` after the write in block 0 tells
  // nobody of it: let an atomic behind it do so, such as `atomicExch(&flag, 1)`, and the other block ask by one, such
  // as `atomicAdd(&flag, 0)`; where another thread makes the atomic, put a `__syncthreads()` before it
  // and race in hand_over_by_a_store: ... at flag; ... at wait; help: blocks run in any order: read in the next launch,
  // or in the block that a ticket shows to be the last, as in beyond/10_single_pass; if it is a flag, write it by an
  // atomic, such as `atomicExch(&flag, 1)`, and read it by one, such as `atomicAdd(&flag, 0)`: `volatile` orders
  // nothing and makes nothing atomic
  expect_finding(hand_over<unsigned, true>);
  expect_finding(hand_over<volatile unsigned, true>);
}

/// Without a fence, only `volatile` says that a word may be a flag.
TEST(Race, IsOfAVolatileFlag) {
  // race in hand_over_by_a_store: ... at one; ... at two; help: blocks run in any order: read in the next launch, or in
  // the block that a ticket shows to be the last, as in beyond/10_single_pass
  // and race in hand_over_by_a_store: ... at flag; ... at wait; help: ... beyond/10_single_pass; if it is a flag, write
  // it by an atomic
  expect_finding(hand_over<volatile unsigned, false>);
  // race in hand_over_by_a_store: ... at one; ... at two; help: ... beyond/10_single_pass; see ticket_without_a_fence
  // and race in hand_over_by_a_store: ... at flag; ... at wait; help: ... beyond/10_single_pass; see ticket_without_a_fence
  expect_finding(hand_over<unsigned, false>);
}

/// Adds up what each block has left, in the last one to come. \param load  reads what another block has written.
template <typename T, typename Load>
__device__ void add_up_last(T* left, T* out, unsigned* blocks, Load load) {
  if (threadIdx.x != 0) return;
  left[blockIdx.x] = left[blockIdx.x + gridDim.x];
  __threadfence();
  if (atomicAdd(blocks, 1U) != gridDim.x - 1) return;
  out[0] = load(left + (blockIdx.x + 1) % gridDim.x);
}
template <typename T> __global__ void add_up_plainly(T* left, T* out, unsigned* blocks) {
  add_up_last(left, out, blocks, [](const T* from) { return *from; });  // load
}
template <typename T> __global__ void add_up_from_l2(T* left, T* out, unsigned* blocks) {
  add_up_last(left, out, blocks, [](const T* from) { return __ldcg(from); });
}

template <typename T> void expect_of_loads() {
  // missing fence in add_up_plainly: block ..., thread 0 writes ...; block ..., thread 0 reads it at load; help: ...
  expect_finding([] { add_up_plainly<T><<<3, 32>>>(DeviceArray<T>{6}, DeviceArray<T>{1}, Words{1}); });
  // no finding
  expect_finding([] { add_up_from_l2<T><<<3, 32>>>(DeviceArray<T>{6}, DeviceArray<T>{1}, Words{1}); });
}

TEST(MissingFence, IsOfLoadsThatMayBeOfAnOlderCache) {
  expect_of_loads<float>();
  expect_of_loads<unsigned char>();
  expect_of_loads<double2>();
  expect_of_loads<float4>();
}

}  // namespace
