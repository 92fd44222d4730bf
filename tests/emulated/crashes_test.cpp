/// A fault is a finding wherever it happens: crashes and stack overflows. What a GPU defines is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"

namespace {

using namespace __emulated;
using Array = DeviceArray<unsigned>;

__global__ void seen(unsigned* out) { out[threadIdx.x] = 1; }

struct Shape {
  virtual int area() const { return 1; }
};
using Operation = int (*)(int);
struct Given {
  int numbers[2];
  Operation operation;
  const Shape* shape;
};
enum class Crashing { none, quotient, remainder, least, call, virtual_call, trap, local };

__noinline__ void fill_ints(int* to, int n) {
  for (int i = 0; i < n; ++i)
    to[i] = i;
}

__global__ void crash(Crashing how, const Given* given, int* out, int n) {
  int numbers[4] = {};
  const int* const in = given->numbers;
  int result = in[0] / (in[1] + 1);
  if (how == Crashing::quotient) result = in[0] / in[1];             // quotient
  if (how == Crashing::remainder) result = in[0] % in[1];            // remainder
  if (how == Crashing::least) result = in[0] / ~in[1];               // least
  if (how == Crashing::call) result = given->operation(1);           // call
  if (how == Crashing::virtual_call) result = given->shape->area();  // object
  if (how == Crashing::trap) __builtin_trap();                       // trap
  for (int i = 0; i < (how == Crashing::local ? n : 4); ++i)
    numbers[i] = result;  // local
  out[threadIdx.x] = numbers[n % 4];
}

__global__ void fill_a_row(int* out, int n) {
  int rows[2][4] = {};
  for (int i = 0; i < n; ++i)
    rows[0][i] = i;  // row
  out[0] = rows[1][3];
}
__global__ void fill_by_pointer(int* out, int n) {
  int numbers[4];
  fill_ints(numbers, n);
  out[0] = numbers[3];
}

TEST(Crash, IsAFindingWhereverItHappens) {
  DeviceArray<Given> in{1};
  std::fill_n(reinterpret_cast<std::byte*>(in.begin()), sizeof(Given), std::byte{});
  in.begin()->numbers[0] = std::numeric_limits<int>::min();
  const auto launch = [&](Crashing how) {
    seen<<<1, 32>>>(Array{32});  // which is as if nothing had been
    crash<<<2, 1>>>(how, in, DeviceArray<int>{2}, 1 << 20);
  };
  for (const bool instrumented : {true, false}) {
    set_instrumented(instrumented);
    // undefined arithmetic in crash: block 0, thread 0 divides by 0, or the least integer by -1 at quotient; help:
    // look at the divisor first: a GPU goes on, with a value that nobody should use
    expect_finding([&] { launch(Crashing::quotient); }, Runs::once);
    // undefined arithmetic in crash: block 0, thread 0 divides by 0, or the least integer by -1 at remainder
    expect_finding([&] { launch(Crashing::remainder); }, Runs::once);
    // undefined arithmetic in crash: block 0, thread 0 divides by 0, or the least integer by -1 at least
    expect_finding([&] { launch(Crashing::least); }, Runs::once);
    // invalid call in crash: block 0, thread 0 calls what is no function at call; help: look at the pointer
    expect_finding([&] { launch(Crashing::call); }, Runs::once);
    // trap in crash: block 0, thread 0 comes to an illegal instruction at trap
    expect_finding([&] { launch(Crashing::trap); }, Runs::once);
#ifndef __clang__  // whose code comes to an illegal instruction first
    // out of bounds in crash: block 0, thread 0 accesses memory beside its local variables at local
    expect_finding([&] { launch(Crashing::local); }, Runs::once);
    // out of bounds in fill_a_row: block 0, thread 0 accesses memory beside its local variables at row; help: check
    // `i` before the access, or make the array larger
    expect_finding([] { fill_a_row<<<1, 1>>>(DeviceArray<int>{1}, 1 << 20); }, Runs::once);
#endif
    // out of bounds in fill_by_pointer: block 0, thread 0 has written memory beside a local array
    expect_finding([] { fill_by_pointer<<<1, 1>>>(DeviceArray<int>{1}, 16); }, Runs::once);
    // no finding
    expect_finding([] { fill_a_row<<<1, 1>>>(DeviceArray<int>{1}, 8); }, Runs::once);
    // no finding
    expect_finding([] { fill_by_pointer<<<1, 1>>>(DeviceArray<int>{1}, 4); }, Runs::once);
    // no finding
    expect_finding([&] { crash<<<1, 1>>>(Crashing::none, in, DeviceArray<int>{1}, 5); }, Runs::once);
  }
  set_instrumented(true);
  // out of bounds in crash: block 0, thread 0 reads 8 bytes outside of the device's memory at object; help: the
  // pointer is null, or next to it
  expect_finding([&] { launch(Crashing::virtual_call); }, Runs::once);
}

// ---- what C++ does not define ----

__global__ void overflow_an_integer(int* out, int from) {
  out[0] = from + 1 > from ? 1 : 0;
  out[1] = (from + 1) >> 31;
  out[2] = -1 << 3;
}

TEST(Overflow, WrapsAroundAsOnAGpu) {
  DeviceArray<int> out{3};
  expect_finding([&] { overflow_an_integer<<<1, 1>>>(out, std::numeric_limits<int>::max()); }, Runs::once);
  EXPECT_EQ(out.begin()[0], 0);
  EXPECT_EQ(out.begin()[1], -1);
  EXPECT_EQ(out.begin()[2], -8);
}

// ---- stack overflows ----

enum class Overflow {
  recursion,
  recursion_with_atomics,
  large_array,
  copy_of_a_large_array,
};

__noinline__ unsigned recurse(unsigned depth) {
  volatile unsigned local[16] = {depth};
  return depth == 0 ? 1 : recurse(depth - 1) + local[depth % 16];
}
__noinline__ unsigned recurse_with_atomics(unsigned depth, unsigned* out) noexcept {
  volatile unsigned local[2] = {depth, 1};
  atomicAdd(out, 1U);
  return depth == 0 ? 1 : recurse_with_atomics(depth - 1, out) + local[depth % 2];
}
struct Large {
  unsigned words[1 << 15];
};
__noinline__ unsigned sum_of_copy(Large large, unsigned i) { return large.words[i] + large.words[i + 1]; }

__global__ void overflow(Overflow how, unsigned* out, const Large* in) {
  const unsigned i = threadIdx.x;
  switch (how) {
    case Overflow::recursion: out[0] = recurse(1'000'000); break;
    case Overflow::recursion_with_atomics: out[0] = recurse_with_atomics(1'000'000, out); break;
    case Overflow::large_array: {
      volatile unsigned local[1 << 16];
      local[i] = i;
      out[i] = local[i / 2];
      break;
    }
    case Overflow::copy_of_a_large_array: out[i] = sum_of_copy(*in, i); break;
  }
}

TEST(StackOverflow, IsAFindingWhereverItHappens) {
  const DeviceArray<Large> in{1};
  for (int how = 0; how <= static_cast<int>(Overflow::copy_of_a_large_array); ++how) {
    SCOPED_TRACE(how);
    for (const bool instrumented : {true, false}) {
      set_instrumented(instrumented);
      // stack overflow in overflow: block 0, thread 0 has used up its stack at ...; help: call less deeply, or make
      // local arrays smaller: a thread has 64 KiB here
      expect_finding(
          [&] {
            seen<<<1, 32>>>(Array{32});  // which is as if nothing had been
            overflow<<<2, 32>>>(static_cast<Overflow>(how), Array{32}, in);
          },
          Runs::once);
    }
  }
  set_instrumented(true);
}

}  // namespace
