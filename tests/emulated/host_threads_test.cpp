#include "emulated/run/host_threads.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <mutex>
#include <set>
#include <thread>

using namespace __emulated;

namespace reduction {
namespace {

/// mpirun, srun and taskset give a process some of the machine's CPUs.
TEST(HostThreads, AreNoMoreThanTheCpusOfTheProcess) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &all))
    ++cpu;
  CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(available_cpus(), 1u);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  parallel_for(1000, [&](std::size_t) {
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  EXPECT_EQ(available_cpus(), static_cast<unsigned>(CPU_COUNT(&all)));
}

}  // namespace
}  // namespace reduction
