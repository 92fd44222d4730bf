/// The checks one by one: what is a fault and, as important, what is none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "device/vector.cuh"
#include "emulated/device_array.hpp"

namespace {

using namespace __emulated;
using Word = std::uint32_t;
using Words = DeviceArray<Word>;

/// The faults of a launch in ascending order; "" if there is none.
std::string faults_of_one(const auto& launch_kernel) {
  std::string faults;
  try {
    launch_kernel();
  } catch (const KernelFinding& finding) {
    for (const Finding& each : finding.findings()) {
      if (!faults.empty()) faults += ", ";
      faults += name_of(each.fault);
    }
  }
  return faults;
}

/// The faults of a launch in each of several schedules, which have to agree; "" if there is none.
std::string faults_of(const auto& launch_kernel) {
  std::string agreed;
  std::vector<Schedule> schedules{{Order::ascending, 0}, {Order::descending, 0}};
  for (unsigned seed = 0; seed < 20; ++seed)
    schedules.push_back({Order::random, seed});
  for (const Schedule& schedule : schedules) {
    set_schedule(schedule);
    const std::string faults = faults_of_one(launch_kernel);
    if (&schedule != &schedules.front() && faults != agreed) {
      agreed = "schedules disagree: " + agreed + " and " + faults;
      break;
    }
    agreed = faults;
  }
  set_schedule({});
  return agreed;
}

/// How the threads of a block keep apart the two halves of an exchange through shared memory.
enum class Between { nothing, block_barrier, warp_barrier, half_warp_barriers, shuffle };

template <typename T> __global__ void exchange(T* out, Between between, unsigned distance) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  shared[tid] = tid;
  switch (between) {
    case Between::nothing: break;
    case Between::block_barrier: __syncthreads(); break;
    case Between::warp_barrier: __syncwarp(); break;
    case Between::half_warp_barriers: __syncwarp(tid % 32 < 16 ? 0x0000ffff : 0xffff0000); break;
    case Between::shuffle: __shfl_sync(0xffffffff, 0, 0); break;
  }
  out[tid] = shared[tid ^ distance];
}

std::string exchange_faults(Between between, unsigned distance) {
  Words out{64};
  return faults_of([&] { launch({1, 64, 256}, exchange<Word>, out, between, distance); });
}

TEST(EmulatedChecks, OrderAccessesByBarriersOnly) {
  EXPECT_EQ(exchange_faults(Between::nothing, 0), "");
  EXPECT_EQ(exchange_faults(Between::block_barrier, 1), "");
  EXPECT_EQ(exchange_faults(Between::block_barrier, 32), "");
  EXPECT_EQ(exchange_faults(Between::warp_barrier, 1), "");
  EXPECT_EQ(exchange_faults(Between::warp_barrier, 16), "");
  EXPECT_EQ(exchange_faults(Between::half_warp_barriers, 8), "");
}

TEST(EmulatedChecks, SeeRacesBetweenLanesAndBetweenWarps) {
  // Whoever reads first may also read what nobody has written yet: the race is there in any case.
  const auto races = [](Between between, unsigned distance) {
    Words out{64};
    for (unsigned seed = 0; seed < 50; ++seed) {
      set_schedule({Order::random, seed});
      try {
        launch({1, 64, 256}, exchange<Word>, out, between, distance);
        return false;
      } catch (const KernelFinding& finding) {
        const auto is_race = [](const Finding& each) { return each.fault == Fault::race; };
        if (std::ranges::none_of(finding.findings(), is_race)) return false;
      }
    }
    set_schedule({});
    return true;
  };
  EXPECT_TRUE(races(Between::nothing, 1));
  EXPECT_TRUE(races(Between::nothing, 32));
  EXPECT_TRUE(races(Between::warp_barrier, 32));
  EXPECT_TRUE(races(Between::half_warp_barriers, 16));
  EXPECT_TRUE(races(Between::shuffle, 1));
}

/// Three lanes pass a word on: 0 to 1 behind one barrier, 1 to 2 behind another. 0 and 2 never meet.
template <typename T> __global__ void relay(bool second_barrier) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  if (tid == 0) shared[0] = 1;
  if (tid < 2) __syncwarp(0b011);
  if (tid == 1 || tid == 2) {
    if (second_barrier) __syncwarp(0b110);
  }
  if (tid == 2) shared[0] = 2;
}

TEST(EmulatedChecks, FollowOrderThroughBarriersOfPartsOfAWarp) {
  EXPECT_EQ(faults_of([] { launch({1, 32, 4}, relay<Word>, true); }), "");
  EXPECT_EQ(faults_of([] { launch({1, 32, 4}, relay<Word>, false); }), "race");
}

/// All lanes read what lane 0 then overwrites; a barrier of the lower half does not wait for the upper.
template <typename T> __global__ void overwrite_what_was_read(T* out, unsigned mask) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  const unsigned tid = threadIdx.x;
  if (tid == 0) shared[0] = 1;
  __syncwarp();
  out[tid] = shared[0];
  if ((mask >> tid & 1) != 0) __syncwarp(mask);
  if (tid == 0) shared[0] = 2;
}

TEST(EmulatedChecks, SeeAWriteThatRacesWithAnyOfManyReads) {
  Words out{32};
  EXPECT_EQ(faults_of([&] { launch({1, 32, 4}, overwrite_what_was_read<Word>, out, 0xffffffff); }), "");
  EXPECT_EQ(faults_of([&] { launch({1, 32, 4}, overwrite_what_was_read<Word>, out, 0x0000ffff); }), "race");
  EXPECT_EQ(faults_of([&] { launch({1, 32, 4}, overwrite_what_was_read<Word>, out, 0xfffffff1); }), "race");
}

enum class Mix { atomics, barrier_before_plain, plain_beside_atomics };

template <typename T> __global__ void add_in_shared_memory(T* out, Mix mix) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  if (threadIdx.x == 0) shared[0] = 0;
  __syncthreads();
  atomicAdd(&shared[0], 1);
  if (mix == Mix::barrier_before_plain) __syncthreads();
  if (mix != Mix::atomics && threadIdx.x == 40) out[0] = shared[0];
}

TEST(EmulatedChecks, LetAtomicsMeetAtomicsButNothingElse) {
  Words out{1};
  const LaunchConfig config{1, 64, 4};
  EXPECT_EQ(faults_of([&] { launch(config, add_in_shared_memory<Word>, out, Mix::atomics); }), "");
  EXPECT_EQ(faults_of([&] { launch(config, add_in_shared_memory<Word>, out, Mix::barrier_before_plain); }),
            "");
  EXPECT_EQ(out[0], 64U);
  EXPECT_EQ(faults_of([&] { launch(config, add_in_shared_memory<Word>, out, Mix::plain_beside_atomics); }),
            "race");
}

template <typename T> __global__ void store_to(T* out, unsigned words) {
  out[(size_t{blockIdx.x} * blockDim.x + threadIdx.x) % words] = 1;
}

TEST(EmulatedChecks, SeeStoresOfManyThreadsToOneGlobalWord) {
  Words out{64};
  EXPECT_EQ(faults_of([&] { launch({2, 32, 0}, store_to<Word>, out, 64U); }), "");
  EXPECT_EQ(faults_of([&] { launch({2, 32, 0}, store_to<Word>, out, 32U); }), "race") << "of two blocks";
  EXPECT_EQ(faults_of([&] { launch({1, 32, 0}, store_to<Word>, out, 16U); }), "race") << "of one warp";
  EXPECT_EQ(faults_of([&] { launch({1, 64, 0}, store_to<Word>, out, 32U); }), "race") << "of two warps";
}

TEST(EmulatedChecks, NameTheLowestBlocksWhateverTheNumberOfHostThreads) {
  Words out{32};
  std::string expected;
  for (const unsigned host_threads : {1U, 2U, 8U}) {
    set_host_threads(host_threads);
    try {
      launch({4096, 32, 0}, store_to<Word>, out, 32U);
      ADD_FAILURE() << "no finding";
    } catch (const KernelFinding& finding) {
      EXPECT_EQ(finding.findings().size(), 1U);
      if (expected.empty()) expected = finding.what();
      EXPECT_EQ(finding.what(), expected);
      EXPECT_NE(expected.find("block 0"), std::string::npos);
      EXPECT_NE(expected.find("block 1"), std::string::npos);
    }
  }
  set_host_threads(0);
}

/// A launch after another: what was stored before has nothing to do with it.
TEST(EmulatedChecks, ForgetStoresOfEarlierLaunches) {
  Words out{32};
  EXPECT_EQ(faults_of([&] {
              launch({1, 32, 0}, store_to<Word>, out, 32U);
              launch({1, 32, 0}, store_to<Word>, out, 32U);
            }),
            "");
}

template <typename T> __global__ void copy(const T* in, T* out) { out[threadIdx.x] = in[threadIdx.x]; }
template <typename T> __global__ void copy_from_shared(T* out, unsigned written) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  if (threadIdx.x < written) shared[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x];
}

TEST(EmulatedChecks, SeeReadsOfWhatNobodyHasWritten) {
  Words in{40};
  Words out{32};
  EXPECT_EQ(faults_of([&] { launch({1, 32, 0}, copy<Word>, in, out); }), "");
  in.forget(32, 8);
  EXPECT_EQ(faults_of([&] { launch({1, 32, 0}, copy<Word>, in, out); }), "");
  in.forget(7, 1);
  EXPECT_EQ(faults_of([&] { launch({1, 32, 0}, copy<Word>, in, out); }), "uninitialised read");
  EXPECT_EQ(faults_of([&] { launch({2, 32, 128}, copy_from_shared<Word>, out, 31U); }), "uninitialised read");
  Words both{32};
  both.forget(0, 32);
  EXPECT_EQ(faults_of([&] {
              both.forget(0, 32);
              launch({1, 32, 0}, copy<Word>, out, both);
              launch({1, 32, 0}, copy<Word>, both, out);
            }),
            "")
      << "what a kernel has stored is written";
}

template <typename T> __global__ void count_from(T* out, bool zero) {
  alignas(16) extern __shared__ std::byte bytes[];
  T* shared = reinterpret_cast<T*>(bytes);
  if (zero && threadIdx.x == 0) shared[0] = 0;
  __syncthreads();
  atomicAdd(&shared[0], 1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = shared[0];
}

TEST(EmulatedChecks, SeeAnAtomicThatAddsToWhatNobodyHasWritten) {
  Words out{1};
  EXPECT_EQ(faults_of([&] { launch({1, 64, 4}, count_from<Word>, out, true); }), "");
  EXPECT_EQ(faults_of([&] { launch({1, 64, 4}, count_from<Word>, out, false); }), "uninitialised read");
}

__global__ void wait_for_a_part(unsigned mask) { __syncwarp(mask); }
__global__ void shuffle_from(int lane, unsigned lanes) {
  if (threadIdx.x < lanes) __shfl_sync((1U << lanes) - 1, 1, lane);
}
__global__ void wait_at_different_things() {
  if (threadIdx.x < 16) {
    __syncwarp();
  } else {
    __shfl_sync(0xffffffff, 1, 0);
  }
}

__global__ void add_to_a_local_variable(int* out) {
  int local = 0;
  atomicAdd(&local, 1);
  out[blockIdx.x] = local;
}

/// A GPU has atomic operations on shared and global memory only.
TEST(EmulatedChecks, SeeAnAtomicOnALocalVariable) {
  DeviceArray<int> out{2};
  const auto launch_kernel = [&] { launch({2, 32, 0}, add_to_a_local_variable, out.begin()); };
  EXPECT_EQ(faults_of(launch_kernel), "out of bounds");
  EXPECT_TRUE(finding_of(launch_kernel)
                  .starts_with("out of bounds in add_to_a_local_variable: block 0, thread 0 atomically "
                               "updates 4 bytes of a local variable at emulated/checks_test.cpp:"))
      << finding_of(launch_kernel);
}

TEST(EmulatedChecks, SeeMisusedWarpFunctions) {
  EXPECT_EQ(faults_of([] { launch({1, 32, 0}, wait_for_a_part, 0xffffffffU); }), "");
  EXPECT_EQ(faults_of([] { launch({1, 40, 0}, wait_for_a_part, 0xffffffffU); }), "") << "a part of a warp";
  EXPECT_EQ(faults_of([] { launch({1, 32, 0}, wait_for_a_part, 0xfffffffeU); }), "invalid mask");
  EXPECT_EQ(faults_of([] { launch({1, 32, 0}, shuffle_from, 7, 16U); }), "");
  EXPECT_EQ(faults_of([] { launch({1, 32, 0}, shuffle_from, 20, 16U); }), "shuffle from an inactive lane");
  EXPECT_EQ(faults_of([] { launch({1, 32, 0}, wait_at_different_things); }), "deadlock");
}

/// Lanes that end in different shuffles leave nothing behind that a later block could mistake.
TEST(EmulatedChecks, StartEachBlockAfresh) {
  launch({1, 32, 0}, shuffle_from, 7, 16U);
  launch({1, 32, 0}, wait_for_a_part, 0xffffffffU);
  EXPECT_EQ(last_launch_counters().warp_barriers, 1U);
}

/// Thread 0 waits for a word that thread 40 writes: legal since Volta, whose threads all make progress.
template <typename T> __global__ void spin(T* flag) {
  if (threadIdx.x == 40) atomicAdd(flag, 1);
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
  }
}

template <typename T> __global__ void spin_for_ever(const T* flag) {
  while (flag[0] == 0) {
  }
}

TEST(EmulatedChecks, LetAThreadSpinButNotForEver) {
  Words flag{1};
  EXPECT_EQ(faults_of([&] { launch({1, 64, 0}, spin<Word>, flag); }), "");
  Words never{1};
  std::string faults;
  try {
    launch({1, 32, 0}, spin_for_ever<Word>, never);
  } catch (const KernelFinding& finding) {
    faults = finding.what();
  }
  EXPECT_NE(faults.find("endless loop"), std::string::npos) << faults;
}

TEST(EmulatedChecks, ReportEachPairOfLinesOnce) {
  Words out{64};
  try {
    launch({1, 64, 256}, exchange<Word>, out, Between::nothing, 32U);
    ADD_FAILURE() << "no finding";
  } catch (const KernelFinding& finding) {
    const std::string text = finding.what();
    EXPECT_LT(std::ranges::count(text, '\n'), 2) << text;
    EXPECT_NE(text.find("race in exchange: "), std::string::npos) << text;
    EXPECT_NE(text.find("emulated/checks_test.cpp:"), std::string::npos) << text;
  }
}

/// One thread after the other writes, for some lanes before and after what all of them do.
void write_in_three_places(Word* out, bool odd_lanes) {
  const unsigned tid = threadIdx.x;
  const bool extra = odd_lanes && tid % 2 == 1;
  if (extra) out[tid] = Word(1U);
  out[32 + tid] = Word(2U);
  if (extra) out[64 + tid] = Word(3U);
}

TEST(Counting, DoesNotDependOnHowTheCompilerArrangesBranches) {
  Words out(96);
  launch({1, 32, 0}, write_in_three_places, static_cast<Word*>(out), true);
  EXPECT_EQ(last_launch_counters().global_store_requests, 3U);
}

void sum_grid_stride(const Word* in, Word* out, size_t n) {
  Word sum{};
  for (size_t i = threadIdx.x; i < n; i += blockDim.x)
    sum += in[i];
  out[threadIdx.x] = sum;
}

TEST(EndlessLoop, IsNoLongLoopOverALargeInput) {
  constexpr size_t n = size_t{1} << 25;
  Words in(n);
  Words out(256);
  set_instrumented(false);  // what it counts would be remembered to the end of the loop
  EXPECT_EQ(faults_of_one([&] {
              launch({1, 256, 0}, sum_grid_stride, static_cast<Word*>(in), static_cast<Word*>(out), n);
            }),
            "");
  set_instrumented(true);
}

void synchronise_often(unsigned times) {
  for (unsigned i = 0; i < times; ++i)
    __syncwarp();
}

TEST(EndlessLoop, IsNoWarpThatSynchronisesOften) {
  EXPECT_EQ(faults_of_one([] { launch({1, 1024, 0}, synchronise_often, 8192U); }), "");
}

constexpr unsigned line_of_the_store = __LINE__ + 3;
void store_forever(Word* out) {
  while (true)
    out[threadIdx.x] = Word(1U);
}

TEST(EndlessLoop, IsNamedByItsOwnLine) {
  Words out(32);
  try {
    launch({1, 32, 0}, store_forever, static_cast<Word*>(out));
    FAIL() << "the loop ended";
  } catch (const KernelFinding& finding) {
    ASSERT_EQ(finding.findings().size(), 1U);
    ASSERT_EQ(finding.findings()[0].witnesses.size(), 1U);
    EXPECT_EQ(finding.findings()[0].witnesses[0].location.line, line_of_the_store) << finding.what();
  }
}

void read_across_two_words(const Word* in, std::uint64_t* out) {
  if (threadIdx.x == 0) *out = *reinterpret_cast<const std::uint64_t*>(in + 1);
}

TEST(Alignment, OfALargeAccessIsItsSize) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizers of this build stop at the same fault first";
#endif
  Words in(4);
  Words out(2);
  EXPECT_EQ(faults_of([&] {
              launch({1, 32, 0}, read_across_two_words, static_cast<Word*>(in),
                     reinterpret_cast<std::uint64_t*>(static_cast<Word*>(out)));
            }),
            "misaligned access");
}

template <typename T> __global__ void load_vectors(const T* in, T* out) {
  const Vector<T> loaded = load_vector(in, threadIdx.x);
  for (unsigned k = 0; k < Vector<T>::width; ++k)
    out[threadIdx.x * Vector<T>::width + k] = loaded.elements[k];
}

TEST(Vectors, AreLoadedAtOnceFromMultiplesOf16) {
  Words in(132);
  Words out(128);
  for (std::uint32_t i = 0; i < 128; ++i)
    in[i] = i;
  const auto run = [&](size_t first) {
    return faults_of([&] {
      launch({1, 32, 0}, load_vectors<Word>, static_cast<const Word*>(in) + first, static_cast<Word*>(out));
    });
  };
  EXPECT_EQ(run(0), "");
  EXPECT_EQ(last_launch_counters().global_load_requests, 1U);
  EXPECT_EQ(last_launch_counters().global_load_sectors, 16U);
  EXPECT_EQ(last_launch_counters().global_load_lanes, 32U);
  for (std::uint32_t i = 0; i < 128; ++i)
    EXPECT_EQ(out[i], i);
  EXPECT_EQ(run(4), "");
  EXPECT_EQ(run(1), "misaligned access");
  EXPECT_EQ(run(2), "misaligned access");
  EXPECT_EQ(run(8), "out of bounds");
  in.forget(127, 1);
  EXPECT_EQ(run(0), "uninitialised read");
}

template <typename T> __global__ void load_a_vector_beside_a_store(T* out, bool barrier) {
  if (threadIdx.x == 0) out[3] = 1;
  if (barrier) __syncthreads();
  if (threadIdx.x == 32) out[4] = load_vector(out, 0).elements[0];
}

TEST(Vectors, RaceByTheWord) {
  Words out(8);
  const auto run = [&](bool barrier) {
    return faults_of([&] {
      launch({1, 64, 0}, load_a_vector_beside_a_store<Word>, static_cast<Word*>(out), barrier);
    });
  };
  EXPECT_EQ(run(true), "");
  EXPECT_EQ(run(false), "race");
}

void shuffle_in_a_width(int width) { __shfl_down_sync(0xffffffff, threadIdx.x, 1, width); }

TEST(Shuffles, HaveAWidthOfAPowerOfTwoUpTo32) {
  EXPECT_EQ(faults_of([] { launch({1, 64, 0}, shuffle_in_a_width, 16); }), "");
  for (const int width : {0, -1, 24, 64}) {
    EXPECT_EQ(faults_of_one([&] {
                launch({1, 64, 0}, shuffle_in_a_width, width);
              }),
              "invalid width")
        << width;
  }
}

}  // namespace
