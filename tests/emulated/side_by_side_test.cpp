/// Blocks that need each other run side by side, in every order: those that wait give way, and only a wait that nothing can end
/// is a finding.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda_or_emulated.cuh"
#include "emulated/device_array.hpp"
#include "emulated/expect_finding.hpp"
#include "emulated/launches.hpp"

namespace {

using namespace __emulated;
using Words = DeviceArray<unsigned>;

// ---- blocks that wait for each other ----

__device__ void wait_until(unsigned* word, unsigned value) {
  while (atomicAdd(word, 0U) != value) {
  }
  __threadfence();
}
__device__ void tell(unsigned* word, unsigned value) {
  __threadfence();
  atomicExch(word, value);
}

__global__ void wait_for_the_next(unsigned* flags, unsigned* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x + 1 < gridDim.x) wait_until(&flags[blockIdx.x + 1], 1);
  out[blockIdx.x] = gridDim.x - blockIdx.x + (blockIdx.x + 1 < gridDim.x ? out[blockIdx.x + 1] : 0);
  tell(&flags[blockIdx.x], 1);
}

/// A barrier of all blocks, as programs write one themselves.
__device__ void meet(unsigned* arrived, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1U);
    while (atomicAdd(arrived, 0U) < gridDim.x * round) {
    }
    __threadfence();
  }
  __syncthreads();
}
__global__ void add_neighbours(unsigned* arrived, unsigned* a, unsigned* b) {
  const unsigned n = gridDim.x * blockDim.x;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = 1;
  for (unsigned round = 1; round <= 3; ++round) {
    meet(arrived, round);
    const unsigned other = (i + blockDim.x) % n;
    (round % 2 != 0 ? b : a)[i] = round % 2 != 0 ? a[i] + a[other] : b[i] + b[other];
  }
}

/// What a tile of a look-back tells others: its own sum, or that of all up to it.
enum Told { nothing, aggregate, prefix };

/// Takes all sums from the predecessors. \param paths  how often it has found which.
__global__ void look_back(unsigned* ticket, unsigned* told, unsigned* out, unsigned* paths) {
  if (threadIdx.x != 0) return;
  const unsigned tile = atomicAdd(ticket, 1U);
  if (tile != 0) atomicExch(&told[tile], (tile + 1) << 2 | aggregate);
  unsigned sum = tile + 1, found = nothing;
  for (unsigned other = tile; found != prefix && other > 0;) {
    const unsigned word = atomicAdd(&told[other - 1], 0U);
    found = word & 3;
    if (found == nothing) continue;
    sum += word >> 2;
    atomicAdd(&paths[found], 1U);
    --other;
  }
  out[tile] = sum;
  atomicExch(&told[tile], sum << 2 | prefix);
}

struct Row {
  std::string name;
  std::function<bool()> is_right;
};

const std::vector<Row> rows{
    {"a flag from a higher block",
     [] {
       const Words flags{12}, out{12};
       wait_for_the_next<<<12, 32>>>(flags, out);
       return out[0] == 12 * 13 / 2;
     }},
    {"a barrier of all blocks",
     [] {
       const Words arrived{1}, a{20 * 64}, b{20 * 64};
       add_neighbours<<<20, 64>>>(arrived, a, b);
       return b[0] == 8 && b[20 * 64 - 1] == 8;
     }},
};

TEST(Blocks, TakeBothPathsOfALookBack) {
  for (const Schedule& schedule : {Schedule{Order::descending}, {Order::random, 1}, {Order::random, 2}}) {
    set_schedule(schedule);
    const Words ticket{1}, told{40}, out{40}, paths{3};
    look_back<<<40, 32>>>(ticket, told, out, paths);
    EXPECT_EQ(out[39], 40U * 41 / 2);
    EXPECT_GT(paths[aggregate], 0U);
    EXPECT_GT(paths[prefix], 0U);
  }
  set_schedule({});
}

/// As many as the device has SMs.
TEST(Blocks, MeetAtABarrierOfTheirOwnInSeconds) {
  const auto before = std::chrono::steady_clock::now();
  set_schedule({Order::random});
  const Words arrived{1}, a{132 * 256}, b{132 * 256};
  add_neighbours<<<132, 256>>>(arrived, a, b);
  set_schedule({});
  EXPECT_EQ(b[132 * 256 - 1], 8U);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds{15});
}

TEST(Blocks, ThatWaitForEachOtherRunInEveryOrder) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_finding([&] { EXPECT_TRUE(row.is_right()); });
  }
}

// ---- cooperative launches ----

__global__ void add_neighbours_of_a_grid(unsigned* a, unsigned* b) {
  const auto grid = cooperative_groups::this_grid();
  const unsigned n = static_cast<unsigned>(grid.num_threads());
  const unsigned i = static_cast<unsigned>(grid.thread_rank());
  a[i] = grid.is_valid() ? 1 : 0;
  for (unsigned round = 1; round <= 3; ++round) {
    if (round % 2 != 0) {
      grid.sync();
    } else {
      cooperative_groups::sync(grid);
    }
    const unsigned other = (i + blockDim.x) % n;
    (round % 2 != 0 ? b : a)[i] = round % 2 != 0 ? a[i] + a[other] : b[i] + b[other];
  }
}
__global__ void leave_before_the_others(unsigned* out) {
  if (blockIdx.x == 2) return;
  cooperative_groups::this_grid().sync();  // one
  out[blockIdx.x] = 1;
}

__global__ void leave_a_thread_out() {
  if (threadIdx.x != 7) cooperative_groups::this_grid().sync();  // not all
}
__global__ void meet_for_ever() {
  while (true)
    cooperative_groups::this_grid().sync();  // again
}

template <typename... Parameters>
void launch_together(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                     Parameters... parameters) {
  void* arguments[] = {&parameters...};
  cudaLaunchCooperativeKernel(kernel, blocks, threads, arguments);
}

TEST(CooperativeLaunch, HasABarrierOfItsGrid) {
  for (const auto& [blocks, threads] : {std::pair{5U, 33U}, {16U, 1024U}}) {
    expect_finding([blocks = blocks, threads = threads] {
      const unsigned n = blocks * threads;
      const Words a{n}, b{n};
      launch_together(add_neighbours_of_a_grid, blocks, threads, a.begin(), b.begin());
      EXPECT_EQ(b[0], 8U);
      EXPECT_EQ(b[n - 1], 8U);
    });
  }
  // missed barrier in leave_before_the_others: block 0, thread 0 waits at the barrier of the grid at one; help: ...
  expect_finding([] { launch_together(leave_before_the_others, 4, 64, Words{4}.begin()); });
  // trap in leave_before_the_others: block 0, thread ... waits for all blocks, which need not be there at one; help:
  // launch the kernel by cudaLaunchCooperativeKernel()
  expect_finding([] { leave_before_the_others<<<4, 64>>>(Words{4}); });
}

TEST(CooperativeLaunch, TellsOfMeetingsThatHaveNoEnd) {
  // missed barrier in leave_a_thread_out: ... at not all; block 0, thread 7 has left the kernel; help: ...
  expect_finding([] { launch_together(leave_a_thread_out, 4, 64); });
  set_loop_limit(std::chrono::seconds{1});
  // endless loop in meet_for_ever: ... at again; help: ...
  expect_finding([] { launch_together(meet_for_ever, 2, 2); }, Runs::once);
  set_loop_limit(std::chrono::seconds{10});
}

/// Leaves so many bytes of the address space more than the process has.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(std::size_t left) {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const rlimit limit{used + left, before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST(CooperativeLaunch, IsNoLargerThanTheHostsMemory) {
  const Words out{1};
  const AddressSpaceLimit limit{std::size_t{4} << 30};
  try {
    launch_together(leave_before_the_others, 264, 1024, out.begin());
    FAIL() << "no refusal";
  } catch (const std::invalid_argument& refusal) {
    EXPECT_NE(std::string{refusal.what()}.find(", not 264: the host has memory for no more at once"),
              std::string::npos)
        << refusal.what();
  }
}

TEST(CooperativeLaunch, IsNoLargerThanTheDevice) {
  const Words out{1};
  try {
    launch_together(leave_before_the_others, 265, 1024, out.begin());
    FAIL() << "no refusal";
  } catch (const std::invalid_argument& refusal) {
    EXPECT_STREQ(
        refusal.what(),
        "the emulated device cannot launch this: a cooperative grid of such blocks has blocks, at most 264, "
        "not 265: all of them are resident at once (cudaErrorCooperativeLaunchTooLarge)");
  }
}

}  // namespace
