#include "harness/host_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_path.hpp"

namespace reduction {
namespace {

/// What is available in a container that has such files.
HostMemory in_container(const std::string& most, const std::string& used) {
  const std::filesystem::path folder = temporary_path("host_memory_test");
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "memory.max") << most << "\n";
  std::ofstream(folder / "memory.current") << used << "\n";
  const HostMemory memory = available_host_memory(folder);
  std::filesystem::remove_all(folder);
  return memory;
}

TEST(HostMemory, IsWhatTheContainerLeaves) {
  const HostMemory memory = in_container("1000000", "400000");
  EXPECT_EQ(memory.bytes, 600'000u);
  EXPECT_EQ(memory.bound, container_limit);
  EXPECT_EQ(in_container("1000000", "1000001").bytes, 0u);
  EXPECT_NE(in_container("max", "400000").bound, container_limit);
  EXPECT_NE(available_host_memory("/missing").bound, container_limit);
}

TEST(HostMemory, IsWhatTheLimitOfAddressSpaceLeaves) {
  std::size_t pages = 0;
  ASSERT_TRUE(std::ifstream("/proc/self/statm") >> pages);
  const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t left = std::size_t{64} << 20;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
  const rlimit narrow{used + left, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &narrow), 0);
  const HostMemory memory = available_host_memory("/missing");
  const std::string text = host_memory_text();
  setrlimit(RLIMIT_AS, &limit);
  EXPECT_EQ(memory.bound, address_space_limit);
  // What was allocated meanwhile is a little.
  EXPECT_LE(memory.bytes, left);
  EXPECT_GT(memory.bytes, left / 2);
  EXPECT_NE(text.find("are free (ulimit -v)"), std::string::npos) << text;
}

TEST(HostMemory, IsThatOfTheMachineElse) {
  const HostMemory memory = available_host_memory("/missing");
  if (memory.bound == address_space_limit) GTEST_SKIP() << "this shell has a ulimit -v";
  EXPECT_EQ(memory.bound, "");
  EXPECT_GT(memory.bytes, std::size_t{1} << 20);
}

}  // namespace
}  // namespace reduction
