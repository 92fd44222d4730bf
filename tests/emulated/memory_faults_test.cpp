/// Accesses outside of the device's memory, and of what nobody has written.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"
#include "emulated/launches.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<unsigned>;

// ---- outside of a buffer ----

__global__ void read_at(const unsigned* in, unsigned* out, long i) {
  *out = in[i];  // one
}

TEST(OutOfBounds, IsBesideABufferOrFarFromIt) {
  expect_finding([] { read_at<<<1, 1>>>(Words{10}, Words{1}, 9); });
  // out of bounds in read_at: block 0, thread 0 reads 4-byte word -1 of a global buffer (10 words) at one;
  // help: `i` is below 0: check it before the access, as in `if (i >= 0)`
  expect_finding([] { read_at<<<1, 1>>>(Words{10}, Words{1}, -1); });
  // out of bounds in read_at: block 0, thread 0 reads 4-byte word 1000 of a global buffer (10 words) at one;
  // help: check `i` before the access: it is past the buffer's end; see unguarded_second_load
  expect_finding([] { read_at<<<1, 1>>>(Words{10}, Words{1}, 1000); });
  // out of bounds in read_at: block 0, thread 0 reads 4 bytes outside of the device's memory at one; help: no
  // memory is there: look at the pointer, and at `i`
  expect_finding([] { read_at<<<1, 1>>>(Words{10}, Words{1}, 1L << 40); });
  // out of bounds in read_at: block 0, thread 0 reads 4-byte word 3 of a global buffer that has been released
  // (1048576 words) at one; help: the buffer has been released: use it before that
  expect_finding([] {
    const unsigned* const released = Words{1 << 20};
    read_at<<<1, 1>>>(released, Words{1}, 3);
  });
}

__device__ unsigned* shared_of_a_launch;

__global__ void keep_shared_memory() {
  __shared__ unsigned cell;
  cell = 1;
  shared_of_a_launch = &cell;
}

__global__ void read_kept(unsigned* out) {
  *out = *shared_of_a_launch;  // one
}

__global__ void read_dynamic(unsigned* out) {
  extern __shared__ unsigned cells[];
  *out = cells[1];  // one
}

TEST(OutOfBounds, IsSharedMemoryThatIsNotThere) {
  // out of bounds in read_kept: block 0, thread 0 reads 4 bytes of what was shared memory in another launch
  // at one; help: what a block has in shared memory ends with it: pass it on through a buffer
  expect_finding([] {
    set_host_threads(1);
    keep_shared_memory<<<1, 1>>>();
    read_kept<<<1, 1>>>(Words{1});
  });
  // out of bounds in read_dynamic: block 0, thread 0 reads cells[1] (cells has 0 elements) at one;
  // help: give the block shared memory: its bytes are the third value in `<<<...>>>`, and there is none
  expect_finding([] { read_dynamic<<<1, 1>>>(Words{1}); });
}

__global__ void add_to_a_local_variable(unsigned* out) {
  unsigned local = 0;
  atomicAdd(&local, 1);  // one
  out[blockIdx.x] = local;
}

__global__ void add_to_memory(unsigned* word) {
  atomicInc(word, 2);  // one
}

/// A GPU has atomic operations on shared and global memory only.
TEST(OutOfBounds, IsAnAtomicOnALocalVariableOrOnTheHost) {
  // out of bounds in add_to_a_local_variable: block 0, thread ... atomically updates 4 bytes of a local
  // variable at one; help: atomic operations are for shared and global memory: no other thread has this
  // variable, so that `+=` or its like will do
  expect_finding([] { add_to_a_local_variable<<<2, 32>>>(Words{2}); });
  const auto of_host = std::make_unique<unsigned>(0);
  // out of bounds in add_to_memory: block 0, thread ... atomically updates 4 bytes outside of the device's
  // memory at one; help: this is memory of the host, or of another thread or block:
  expect_finding([&] { add_to_memory<<<1, 32>>>(of_host.get()); });
}

// An array of three numbers, and right behind it a variable of one byte, which has no room for what is read.
asm(R"(
  .pushsection .data
  .balign 64
  .globl numbers_before_a_letter, letter_behind_numbers
  .hidden numbers_before_a_letter, letter_behind_numbers
  .type numbers_before_a_letter, %object
  .size numbers_before_a_letter, 12
numbers_before_a_letter:
  .zero 12
  .type letter_behind_numbers, %object
  .size letter_behind_numbers, 1
letter_behind_numbers:
  .zero 52
  .popsection
)");
extern "C" __attribute__((visibility("hidden"))) unsigned numbers_before_a_letter[3];

__global__ void read_number(unsigned* out, int i) {
  *out = numbers_before_a_letter[i];  // one
}

TEST(OutOfBounds, OfAVariableNamesTheArrayThatWasLeft) {
  // out of bounds in read_number: block 0, thread 0 reads 4-byte word 3 of the variable
  // numbers_before_a_letter (3 words) at one; help: check `i` before the access, or make the array larger
  expect_finding([] { read_number<<<1, 1>>>(Words{1}, 3); });
}

// ---- where nothing may throw ----

unsigned load_without_throwing(const unsigned* from) noexcept {
  return *from;  // one
}
__noinline__ void add_without_throwing(unsigned* to) noexcept {
  atomicAdd(to, 1U);  // one
}
__noinline__ void meet_without_throwing(unsigned tid) noexcept {
  if (tid < 16) __syncthreads();  // one
}
__noinline__ unsigned ask_without_throwing() noexcept {
  return __shfl_sync(0xffffffff, 1U, 3, 7);  // one
}

enum class Where { function, atomic, barrier, shuffle };

__global__ void fault_in(Where where, unsigned* out) noexcept {
  switch (where) {
    case Where::function: out[0] = load_without_throwing(out + 1); break;
    case Where::atomic: add_without_throwing(out + 1); break;
    case Where::barrier: meet_without_throwing(threadIdx.x); break;
    case Where::shuffle: out[0] = ask_without_throwing(); break;
  }
}

TEST(OutOfBounds, IsAFindingWhereNothingMayThrow) {
  for (const Where where : {Where::function, Where::atomic}) {
    // out of bounds in fault_in: block 0, thread ... of a global buffer (1 words) at one
    expect_finding([=] { fault_in<<<1, 32>>>(where, Words{1}); });
  }
  // missed barrier in fault_in: block 0, threads 0-15 wait at __syncthreads() at one
  expect_finding([] { fault_in<<<1, 32>>>(Where::barrier, Words{1}); });
  // invalid width in fault_in
  expect_finding([] { fault_in<<<1, 32>>>(Where::shuffle, Words{1}); });
}

// ---- what nobody has written ----

__global__ void copy(const unsigned* in, unsigned* out) {
  out[threadIdx.x] = in[threadIdx.x];  // one
}

__global__ void write_two(unsigned* out) {
  out[threadIdx.x] = 1;
  out[threadIdx.x + 32] = 2;
}

TEST(UninitialisedRead, IsOfAWordThatNobodyHasWritten) {
  Words in{40};
  in.forget(32, 8);
  expect_finding([&] { copy<<<1, 32>>>(in, Words{32}); });
  expect_finding([&] {
    Words both{32};
    both.forget(0, 32);
    copy<<<1, 32>>>(in, both);  // what a kernel has stored is written
    copy<<<1, 32>>>(both, Words{32});
  });
  expect_finding([&] {
    Words both{64};
    both.forget(0, 64);
    set_instrumented(false);
    write_two<<<1, 32>>>(both);  // also what is stored while nothing is counted
    set_instrumented(true);
    copy<<<1, 32>>>(both, Words{32});
    copy<<<1, 32>>>(both + 32, Words{32});
  });
  in.forget(7, 1);
  // uninitialised read in copy: block 0, thread 7 reads 4-byte word 7 of a global buffer (40 words) at one;
  // help: global memory begins without values: fill the buffer before the launch, or write the word first
  expect_finding([&] { copy<<<1, 32>>>(in, Words{32}); });
}

enum class Access { load, atomic };

__global__ void begin_with(Access access, unsigned* out, bool written) {
  __shared__ unsigned cell;
  if (written && threadIdx.x == 0) cell = 0;
  __syncthreads();
  if (access == Access::load) {
    out[threadIdx.x] = cell;  // one
  } else {
    atomicAdd(&cell, 1);  // two
  }
}

__global__ void read_a_byte_and_its_word(unsigned* out) {
  alignas(4) __shared__ unsigned char bytes[4];
  out[0] = bytes[1];                                   // one
  out[1] = *reinterpret_cast<const unsigned*>(bytes);  // two
}

TEST(UninitialisedRead, IsOfSharedMemoryToo) {
  expect_finding([] {
    begin_with<<<2, 64>>>(Access::atomic, Words{64}, true);
    begin_with<<<1, 64>>>(Access::load, Words{64}, true);
  });
  // uninitialised read in begin_with: block 0, thread ... reads ... at one; help: shared memory begins without
  // values: write the word first, with 0 where there is no input
  expect_finding([] { begin_with<<<1, 64>>>(Access::load, Words{64}, false); });
  // uninitialised read in begin_with: block 0, thread ... atomically updates ... at two
  expect_finding([] { begin_with<<<1, 64>>>(Access::atomic, Words{64}, false); });
  // uninitialised read in read_a_byte_and_its_word: block 0, thread 0 reads ... at one
  // and uninitialised read in read_a_byte_and_its_word: block 0, thread 0 reads ... at two
  expect_finding([] { read_a_byte_and_its_word<<<1, 1>>>(Words{2}); });
}

}  // namespace
