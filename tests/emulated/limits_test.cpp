/// What the emulated device refuses as a GPU does, and that a fault is a finding wherever it happens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"
#include "emulated/language/runtime/kernels.hpp"

namespace {

using namespace __emulated;
using Array = DeviceArray<unsigned>;

/// Why a launch is refused; "" if it is not.
std::string refusal_of(const auto& launch_kernel) {
  try {
    launch_kernel();
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "";
}

// ---- limits of a launch ----

__global__ void use_dynamic(unsigned* out) {
  extern __shared__ unsigned shared[];
  shared[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = shared[threadIdx.x];
}
__global__ void use_both(unsigned* out) noexcept {
  extern __shared__ unsigned shared[];
  __shared__ unsigned fixed[2048];
  shared[threadIdx.x] = fixed[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = shared[threadIdx.x];
}

const std::string cannot = "the emulated device cannot launch this: a block ";
const std::string asks_for_more =
    "; cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) asks for more";

/// How much a block may have, by default and where as much as there is has been asked for. Static memory is known when the
/// kernel comes to its variable: even where nothing may be thrown, that is no abort.
TEST(SharedMemory, BeyondADefaultHasToBeAskedFor) {
  Array out{32};
  const auto of_dynamic = [&](unsigned bytes) {
    return refusal_of([&] { use_dynamic<<<1, 32, bytes>>>(out.begin()); });
  };
  const auto of_both = [&](unsigned bytes) {
    return refusal_of([&] { use_both<<<1, 32, bytes>>>(out.begin()); });
  };
  const std::string both = cannot + "has bytes of shared memory, static and dynamic, at most ";
  EXPECT_EQ(of_dynamic(48 * 1024), "");
  EXPECT_EQ(
      of_dynamic(48 * 1024 + 1),
      cannot + "of this kernel has bytes of dynamic shared memory, at most 49152, not 49153" + asks_for_more);
  EXPECT_EQ(of_both(40 * 1024), "");
  EXPECT_EQ(of_both(40 * 1024 + 4), both + "49152, not 49156" + asks_for_more);
  const auto* const dynamic = reinterpret_cast<const void*>(use_dynamic);
  allow_dynamic_shared_memory(dynamic, 64 * 1024);
  EXPECT_EQ(of_dynamic(64 * 1024), "");
  EXPECT_NE(of_dynamic(64 * 1024 + 1), "");
  allow_dynamic_shared_memory(dynamic, 227 * 1024);
  allow_dynamic_shared_memory(reinterpret_cast<const void*>(use_both), 227 * 1024);
  EXPECT_EQ(of_dynamic(227 * 1024), "");
  EXPECT_EQ(of_both(219 * 1024), "");
  EXPECT_EQ(of_both(219 * 1024 + 4), both + "232448, not 232452");
  EXPECT_THROW(allow_dynamic_shared_memory(dynamic, 227 * 1024 + 1), std::invalid_argument);
}

constexpr unsigned most = 64;
__global__ void __launch_bounds__(most) bounded(unsigned* out) { out[threadIdx.x] = 1; }
template <typename T, unsigned warps>
__global__ void __launch_bounds__(32 * warps, 2) bounded_by_a_parameter(T* out) noexcept {
  out[threadIdx.x] = 1;
}

TEST(LaunchBounds, AreALimitOfTheLaunch) {
  Array out{1024};
  EXPECT_EQ(refusal_of([&] { bounded<<<1, 64>>>(out.begin()); }), "");
  EXPECT_EQ(refusal_of([&] { bounded<<<4, dim3(13, 5)>>>(out.begin()); }),
            cannot + "of bounded has threads, at most 64 by its __launch_bounds__, not 65");
  EXPECT_EQ(refusal_of([&] { bounded_by_a_parameter<unsigned, 4><<<1, 128>>>(out.begin()); }), "");
  EXPECT_EQ(refusal_of([&] { bounded_by_a_parameter<unsigned, 2><<<1, 128>>>(out.begin()); }),
            cannot + "of bounded_by_a_parameter has threads, at most 64 by its __launch_bounds__, not 128");
}

TEST(Launch, IsRefusedWhereNoDeviceHasIt) {
  for (const ExecutionConfiguration& config :
       {ExecutionConfiguration{0, 32, 0}, ExecutionConfiguration{1, 0, 0}, ExecutionConfiguration{1, 1025, 0},
        ExecutionConfiguration{1U << 31, 32, 0}, ExecutionConfiguration{1, 32, 227 * 1024 + 1}}) {
    EXPECT_THROW(launch(config, use_dynamic, Array{1}.begin()), std::invalid_argument);
  }
}

TEST(Launch, FillsTheDeviceAsItsLimitsAllow) {
  EXPECT_EQ(blocks_to_fill_device(use_dynamic, 256, 1024), 132U * 8);
  EXPECT_EQ(blocks_to_fill_device(use_dynamic, 32, 128), 132U * 32);
  EXPECT_EQ(blocks_to_fill_device(use_dynamic, 64, 100 * 1024), 132U * 2);
  EXPECT_EQ(blocks_to_fill_device(use_dynamic, 1024, 227 * 1024), 132U);
  EXPECT_THROW(blocks_to_fill_device(use_dynamic, 32, 227 * 1024 + 1), std::invalid_argument);
}

// ---- crashes ----

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
