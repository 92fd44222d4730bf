/// What a race is does not depend on the schedule, on host threads or on time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "device/dialect.cuh"

namespace {

using namespace reduction::emulated;
using Word = Traced<std::uint32_t>;

/// A global buffer of words that are 0 and count as written.
class Words {
 public:
  explicit Words(size_t count) : data_{static_cast<std::uint32_t*>(allocate(count * sizeof(Word)))} {
    std::fill_n(data_, count, 0U);
    mark_initialised(data_, count * sizeof(Word));
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() { release(data_); }
  operator Word*() const { return reinterpret_cast<Word*>(data_); }
  std::uint32_t& operator[](size_t i) const { return data_[i]; }

 private:
  std::uint32_t* data_;
};

/// What the device says about a launch: its findings' texts, or "" if there are none.
std::string text_of(const auto& launch_kernel) {
  try {
    launch_kernel();
  } catch (const KernelFinding& finding) {
    return finding.what();
  }
  return "";
}

/// A finding's kinds of fault only.
std::string faults_of(const auto& launch_kernel) {
  std::string faults;
  try {
    launch_kernel();
  } catch (const KernelFinding& finding) {
    for (const Finding& each : finding.findings()) {
      faults += (faults.empty() ? "" : ", ") + std::string{name_of(each.fault)};
    }
  }
  return faults;
}

/// What `verdict` says in each schedule and with one and four host threads; these have to agree.
std::string agreed(const auto& verdict, unsigned repetitions = 1) {
  std::vector<Schedule> schedules{{Order::ascending, 0}, {Order::descending, 0}};
  for (unsigned seed = 0; seed < 20; ++seed)
    schedules.push_back({Order::random, seed});
  const std::string first = verdict();
  std::string answer = first;
  for (const unsigned host_threads : {1U, 4U}) {
    set_host_threads(host_threads);
    for (const Schedule& schedule : schedules) {
      set_schedule(schedule);
      for (unsigned i = 0; i < repetitions && answer == first; ++i)
        answer = verdict();
    }
  }
  set_schedule({});
  set_host_threads(0);
  return answer == first ? first : "disagree:\n" + first + "\nand\n" + answer;
}

template <typename T> __global__ void add_beside_a_store(T* out, bool barrier) {
  T* shared = shared_memory<T>();
  if (threadIdx.x == 0) shared[0] = 0;
  if (barrier) __syncthreads();
  atomicAdd(&shared[0], 1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = shared[0];
}

template <typename T> __global__ void add_beside_a_load(T* out, bool barrier) {
  T* shared = shared_memory<T>();
  if (threadIdx.x == 0) shared[0] = 0;
  __syncthreads();
  if (threadIdx.x == 0) out[0] = shared[0];
  if (barrier) __syncthreads();
  atomicAdd(&shared[0], 1);
}

TEST(EmulatedRaces, SharedAtomicsHideNeitherStoresNorLoads) {
  Words out{1};
  for (const unsigned block : {2U, 32U, 64U, 256U}) {
    const auto verdict = [&](auto kernel, bool barrier) {
      return agreed([&] { return faults_of([&] { launch({1, block, 4}, kernel, out, barrier); }); });
    };
    EXPECT_EQ(verdict(add_beside_a_store<Word>, false), "race") << block;
    EXPECT_EQ(verdict(add_beside_a_store<Word>, true), "") << block;
    EXPECT_EQ(verdict(add_beside_a_load<Word>, false), "race") << block;
    EXPECT_EQ(verdict(add_beside_a_load<Word>, true), "") << block;
  }
}

}  // namespace
