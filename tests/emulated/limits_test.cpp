/// What the emulated device refuses as a GPU does, and that a fault is a finding wherever it happens.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"

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

TEST(SharedMemory, BeyondADefaultHasToBeAskedFor) {
  Array out{32};
  EXPECT_EQ(refusal_of([&] { use_dynamic<<<1, 32, 48 * 1024>>>(out.begin()); }), "");
  EXPECT_EQ(
      refusal_of([&] { use_dynamic<<<1, 32, 48 * 1024 + 1>>>(out.begin()); }),
      "the emulated device cannot launch this: a block of this kernel has bytes of dynamic shared memory, at "
      "most 49152, not 49153; cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
      "bytes) asks for more");
  allow_dynamic_shared_memory(reinterpret_cast<const void*>(use_dynamic), 64 * 1024);
  EXPECT_EQ(refusal_of([&] { use_dynamic<<<1, 32, 64 * 1024>>>(out.begin()); }), "");
  EXPECT_NE(refusal_of([&] { use_dynamic<<<1, 32, 64 * 1024 + 1>>>(out.begin()); }), "");
  allow_dynamic_shared_memory(reinterpret_cast<const void*>(use_dynamic), 227 * 1024);
  EXPECT_EQ(refusal_of([&] { use_dynamic<<<1, 32, 227 * 1024>>>(out.begin()); }), "");
  EXPECT_THROW(allow_dynamic_shared_memory(reinterpret_cast<const void*>(use_dynamic), 227 * 1024 + 1),
               std::invalid_argument);
}

/// Known when the kernel comes to its variable: even where nothing may be thrown, that is no abort.
TEST(SharedMemory, OfBothKindsCountsTogether) {
  Array out{32};
  EXPECT_EQ(refusal_of([&] { use_both<<<1, 32, 40 * 1024>>>(out.begin()); }), "");
  EXPECT_EQ(
      refusal_of([&] { use_both<<<1, 32, 40 * 1024 + 4>>>(out.begin()); }),
      "the emulated device cannot launch this: a block has bytes of shared memory, static and dynamic, at "
      "most 49152, not 49156; cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
      "bytes) asks for more");
  allow_dynamic_shared_memory(reinterpret_cast<const void*>(use_both), 227 * 1024);
  EXPECT_EQ(refusal_of([&] { use_both<<<1, 32, 219 * 1024>>>(out.begin()); }), "");
  EXPECT_EQ(
      refusal_of([&] { use_both<<<1, 32, 219 * 1024 + 4>>>(out.begin()); }),
      "the emulated device cannot launch this: a block has bytes of shared memory, static and dynamic, at "
      "most 232448, not 232452");
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
            "the emulated device cannot launch this: a block of bounded has threads, at most 64 by its "
            "__launch_bounds__, not 65");
  EXPECT_EQ(refusal_of([&] { bounded_by_a_parameter<unsigned, 4><<<1, 128>>>(out.begin()); }), "");
  EXPECT_EQ(
      refusal_of([&] { bounded_by_a_parameter<unsigned, 2><<<1, 128>>>(out.begin()); }),
      "the emulated device cannot launch this: a block of bounded_by_a_parameter has threads, at most 64 by "
      "its __launch_bounds__, not 128");
}

// ---- nothing seen ----

__attribute__((no_sanitize("thread"))) __global__ void unseen(unsigned* out) { out[threadIdx.x] = 1; }
__global__ void empty(unsigned*) {}
__global__ void seen(unsigned* out) { out[threadIdx.x] = 1; }
__global__ void seen_by_its_atomics(unsigned* out) { atomicAdd(out, 1U); }

TEST(Launch, SaysOnceIfNothingWasSeen) {
  Array out{32};
  testing::internal::CaptureStderr();
  seen<<<1, 32>>>(out.begin());
  seen_by_its_atomics<<<1, 32>>>(out.begin());
  empty<<<1, 32>>>(out.begin());
  set_instrumented(false);
  unseen<<<1, 32>>>(out.begin());
  set_instrumented(true);
  std::fill(out.begin(), out.end(), 0U);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  unseen<<<1, 32>>>(out.begin());
  unseen<<<2, 32>>>(out.begin());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "limits_test: note: no access to memory was seen in unseen, though it has stored something: "
            "nothing of it was counted or checked. Its code needs the compiler's flags of the CMake target "
            "emulated_kernels\n");
}

// ---- faults where nothing may throw ----

unsigned load_without_throwing(const unsigned* from) noexcept { return *from; }
struct StoresWhenDestroyed {
  ~StoresWhenDestroyed() { *where = 1; }
  unsigned* where;
};
enum class Place { function, inlined_function, destructor, atomic, barrier, shuffle, copy };

__noinline__ void meet_without_throwing(unsigned tid) noexcept {
  if (tid < 16) __syncthreads();
}
__noinline__ unsigned ask_without_throwing() noexcept { return __shfl_sync(0xffffffff, 1U, 3, 7); }
__noinline__ void add_without_throwing(unsigned* to) noexcept { atomicAdd(to, 1U); }
__noinline__ void copy_without_throwing(unsigned* to, const unsigned* from, unsigned bytes) noexcept {
  std::memcpy(to, from, bytes);
}

__global__ void fault_at(Place place, unsigned* out) noexcept {
  switch (place) {
    case Place::function: out[0] = load_without_throwing(out + 1); break;
    case Place::inlined_function:
      out[0] = [](const unsigned* from) noexcept { return *from; }(out + 1);
      break;
    case Place::destructor: {
      const StoresWhenDestroyed object{out + 1};
      break;
    }
    case Place::atomic: add_without_throwing(out + 1); break;
    case Place::barrier: meet_without_throwing(threadIdx.x); break;
    case Place::shuffle: out[0] = ask_without_throwing(); break;
    case Place::copy: copy_without_throwing(out, out + 1, blockDim.x); break;
  }
}

TEST(Fault, WhereNothingMayThrowIsAFinding) {
  Array out{1};
  const auto finding_at = [&](Place place) {
    return finding_of([&] { launch({1, 32, 0}, fault_at, place, out.begin()); });
  };
  for (const Place place :
       {Place::function, Place::inlined_function, Place::destructor, Place::atomic, Place::copy})
    EXPECT_TRUE(finding_at(place).starts_with("out of bounds in fault_at"))
        << static_cast<int>(place) << finding_at(place);
  EXPECT_TRUE(finding_at(Place::barrier).starts_with("missed barrier")) << finding_at(Place::barrier);
  EXPECT_TRUE(finding_at(Place::shuffle).starts_with("invalid width")) << finding_at(Place::shuffle);
}

/// A byte of each word by each of 256 instructions, to each of which the thread has come by a set of words of its own.
template <unsigned... places>
unsigned sum_at(const unsigned char* bytes, std::integer_sequence<unsigned, places...>) noexcept {
  return ((bytes[4 * places] + bytes[4 * places + 1] + bytes[4 * places + 2] + bytes[4 * places + 3]) + ...);
}
__global__ void do_too_many_kinds_of_things(const unsigned char* bytes, unsigned* words,
                                            unsigned* out) noexcept {
  if (blockIdx.x == 0) __threadfence();
  for (unsigned i = 0; i < 1100; ++i) {
    atomicAdd(&words[i], 1U);
    if (blockIdx.x == 1) out[0] += sum_at(bytes + 1024 * i, std::make_integer_sequence<unsigned, 256>{});
  }
}

TEST(Fault, ThatTheDeviceItselfHasIsThrownByTheLaunch) {
  DeviceArray<unsigned char> bytes{1100 * 1024};
  Array words{1100};
  Array out{1};
  EXPECT_THROW(launch({2, 1, 0}, do_too_many_kinds_of_things, bytes.begin(), words.begin(), out.begin()),
               std::length_error);
}

// ---- libraries that are loaded late ----

__global__ void copy_from(const unsigned* table, unsigned* out) { out[threadIdx.x] = table[threadIdx.x]; }

TEST(Library, LoadedAfterALaunchHasConstantsToo) {
  static const unsigned own[2] = {1, 2};
  Array out{4};
  EXPECT_EQ(finding_of([&] { launch({1, 2, 0}, copy_from, own, out.begin()); }), "");
  void* const library = dlopen(LATE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto* const table = static_cast<const unsigned*>(dlsym(library, "late_table"));
  auto* const sums = static_cast<unsigned*>(dlsym(library, "late_sums"));
  ASSERT_TRUE(table != nullptr && sums != nullptr);
  EXPECT_EQ(finding_of([&] { launch({1, 4, 0}, copy_from, table, out.begin()); }), "");
  EXPECT_EQ(out[3], 7U);
  EXPECT_EQ(finding_of([&] { launch({1, 4, 0}, copy_from, table, sums); }), "");
  EXPECT_EQ(sums[2], 5U);
  dlclose(library);
}

// ---- stack overflows ----

enum class Overflow {
  recursion,
  recursion_that_may_not_throw,
  recursion_with_barriers,
  recursion_with_atomics,
  large_array,
  large_array_in_a_function,
  large_array_not_inlined,
  large_array_in_a_destructor,
  copy_of_a_large_array,
  cleared_large_array,
  printing,
  formatting_numbers,
};

template <bool meets> __noinline__ unsigned recurse(unsigned depth, unsigned* out) {
  volatile unsigned local[16] = {depth};
  if (meets) __syncwarp();
  if (depth == 0) return 1;
  return recurse<meets>(depth - 1, out) + local[depth % 16];
}
__noinline__ unsigned recurse_without_throwing(unsigned depth) noexcept {
  volatile unsigned local[16] = {depth};
  return depth == 0 ? 1 : recurse_without_throwing(depth - 1) + local[depth % 16];
}
__noinline__ unsigned recurse_with_atomics(unsigned depth, unsigned* out) noexcept {
  volatile unsigned local[2] = {depth, 1};
  atomicAdd(out, 1U);
  return depth == 0 ? 1 : recurse_with_atomics(depth - 1, out) + local[depth % 2];
}
__noinline__ unsigned recurse_and_print(unsigned depth, bool numbers) noexcept {
  char text[64];
  volatile double value = depth * 1.1;
  const int length = numbers ? std::snprintf(text, sizeof(text), "%.30f %Lg", value, 1.0L / value)
                             : std::snprintf(text, sizeof(text), "%s %u", "depth", depth);
  return depth == 0 ? 1 : recurse_and_print(depth - 1, numbers) + static_cast<unsigned>(length);
}
__device__ unsigned take_much(unsigned i) {
  volatile unsigned local[1 << 16];
  local[i] = i;
  return local[i / 2];
}
__noinline__ unsigned take_much_without_throwing(unsigned i) noexcept {
  volatile unsigned local[1 << 16];
  local[i] = i;
  return local[i / 2];
}
struct TakesMuchWhenDestroyed {
  __noinline__ ~TakesMuchWhenDestroyed() {
    volatile unsigned local[1 << 15];
    local[i] = 1;
    *out = local[i];
  }
  unsigned* out;
  unsigned i;
};
struct Large {
  unsigned words[1 << 15];
};
__noinline__ unsigned sum_of_copy(Large large, unsigned i) { return large.words[i] + large.words[i + 1]; }

__global__ void overflow(Overflow how, unsigned* out, const Large* in) {
  const unsigned i = threadIdx.x;
  switch (how) {
    case Overflow::recursion: out[0] = recurse<false>(1'000'000, out); break;
    case Overflow::recursion_that_may_not_throw: out[0] = recurse_without_throwing(1'000'000); break;
    case Overflow::recursion_with_barriers: out[0] = recurse<true>(1'000'000, out); break;
    case Overflow::recursion_with_atomics: out[0] = recurse_with_atomics(1'000'000, out); break;
    case Overflow::large_array: {
      volatile unsigned local[1 << 16];
      local[i] = i;
      out[i] = local[i / 2];
      break;
    }
    case Overflow::large_array_in_a_function: out[i] = take_much(i); break;
    case Overflow::large_array_not_inlined: out[i] = take_much_without_throwing(i); break;
    case Overflow::large_array_in_a_destructor: {
      const TakesMuchWhenDestroyed object{out, i};
      break;
    }
    case Overflow::copy_of_a_large_array: out[i] = sum_of_copy(*in, i); break;
    case Overflow::cleared_large_array: {
      Large local;
      std::memset(&local, static_cast<int>(i), sizeof(local));
      out[i] = local.words[i];
      break;
    }
    case Overflow::printing: out[0] = recurse_and_print(1'000'000, false); break;
    case Overflow::formatting_numbers: out[0] = recurse_and_print(1'000'000, true); break;
  }
}

TEST(StackOverflow, IsAFindingWhereverItHappens) {
  Array out{32};
  DeviceArray<Large> in{1};
  for (int how = 0; how <= static_cast<int>(Overflow::formatting_numbers); ++how) {
    for (const bool instrumented : {true, false}) {
      set_instrumented(instrumented);
      const std::string finding = finding_of([&] {
        launch({2, 32, 0}, overflow, static_cast<Overflow>(how), out.begin(), in.begin());
      });
      EXPECT_TRUE(finding.starts_with("stack overflow in overflow: block 0, thread "))
          << how << ": " << finding;
      EXPECT_NE(finding.find("emulated/limits_test.cpp:"), std::string::npos) << how << ": " << finding;
    }
  }
  set_instrumented(true);
  seen<<<1, 32>>>(out.begin());  // and the next launch is as if nothing had been
}

}  // namespace
