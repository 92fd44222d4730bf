/// Races between blocks do not depend on the schedule, on host threads or on time; nor does what is said of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<unsigned>;

/// Launches enough threads for four of the host, over a buffer of which but the first word is written.
std::function<void()> launch_of(void (*kernel)(unsigned*)) {
  return [=] {
    Words out{512};
    out.forget(1, 511);
    kernel<<<128, 512>>>(out);
  };
}

// ---- of which lines, and of which threads ----

__global__ void read_a_lower_block(unsigned* out) {
  const unsigned b = blockIdx.x;
  if (threadIdx.x != 0) return;
  out[b] = b;                               // one
  if (b >= 64) out[b + 256] = out[b - 64];  // two
}

TEST(RaceBetweenBlocks, IsOfAReadOfALowerBlock) {
  // race in read_a_lower_block: block 0, thread 0 writes 4-byte word 0 of a global buffer (512 words) at one;
  // block 64, thread 0 reads it at two; help: blocks run in any order: read in the next launch, or in the block that
  // a ticket shows to be the last, as in beyond/10_single_pass
  expect_finding(launch_of(read_a_lower_block));
}

__global__ void store_to(unsigned* out, unsigned words) {
  out[(blockIdx.x * blockDim.x + threadIdx.x) % words] = 1;  // one
}

TEST(RaceBetweenBlocks, IsOfTwoStores) {
  expect_finding([] { store_to<<<2, 32>>>(Words{64}, 64); });
  expect_finding([] {  // a launch after another
    const Words out{32};
    store_to<<<1, 32>>>(out, 32);
    store_to<<<1, 32>>>(out, 32);
  });
  // race in store_to: block 0, thread 0 writes ... at one; block 0, thread 16 writes it at one
  expect_finding([] { store_to<<<1, 32>>>(Words{64}, 16); });
  // race in store_to: block 0, thread 0 writes ... at one; block 0, thread 32 writes it at one
  expect_finding([] { store_to<<<1, 64>>>(Words{64}, 32); });
  // race in store_to: block 0, thread 0 writes ... at one; block 1, thread 0 writes it at one
  expect_finding([] { store_to<<<4096, 32>>>(Words{32}, 32); });
}

template <bool fence> __global__ void clear_and_add(unsigned* out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = 0;  // one
  if (fence) __threadfence();
  if (threadIdx.x == 0) atomicAdd(&out[0], 1);  // two
}

TEST(RaceBetweenBlocks, IsOfAStoreWithAnAtomic) {
  // race in clear_and_add: block 0, thread 0 writes ... at one; block 1, thread 0 atomically updates it at two
  expect_finding(launch_of(clear_and_add<false>));
  expect_finding(launch_of(clear_and_add<true>));
}

// ---- whichever way a kernel comes by a pointer, and a thread by a word ----

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

TEST(RaceBetweenBlocks, IsFoundWhicheverWayAKernelComesByAPointer) {
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

TEST(RaceBetweenBlocks, NamesTheThreadsOfAnyOrder) {
  expect_the_threads_of_any_order<unsigned>();
  expect_the_threads_of_any_order<std::uint64_t>();
  expect_the_threads_of_any_order<std::uint8_t>();
}

}  // namespace
