#include "harness/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "device/device_error.hpp"
#include "emulated/run/device.hpp"
#include "temporary_path.hpp"

namespace reduction {
namespace {

/// What is available in a container that has such files.
Memory in_container(const std::string& most, const std::string& used) {
  const std::filesystem::path folder = temporary_path("memory_test");
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "memory.max") << most << "\n";
  std::ofstream(folder / "memory.current") << used << "\n";
  const Memory memory = host_memory(folder);
  std::filesystem::remove_all(folder);
  return memory;
}

TEST(HostMemory, IsWhatTheContainerLeaves) {
  const Memory memory = in_container("1000000", "400000");
  EXPECT_EQ(memory.free_bytes, 600'000u);
  EXPECT_EQ(memory.bound, container_limit);
  EXPECT_EQ(in_container("1000000", "1000001").free_bytes, 0u);
  EXPECT_NE(in_container("max", "400000").bound, container_limit);
  EXPECT_NE(host_memory("/missing").bound, container_limit);
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
  const Memory memory = host_memory("/missing");
  const std::string text = to_string(memory);
  setrlimit(RLIMIT_AS, &limit);
  EXPECT_EQ(memory.bound, address_space_limit);
  // What was allocated meanwhile is a little.
  EXPECT_LE(memory.free_bytes, left);
  EXPECT_GT(memory.free_bytes, left / 2);
  EXPECT_TRUE(text.starts_with("the host has ") && text.ends_with("MiB free (ulimit -v)")) << text;
}

TEST(EmulatedMemory, HasRoomForItsThreads) {
  const Memory memory = emulated_memory();
  EXPECT_EQ(memory.owner, __emulated::device_name);
  EXPECT_GE(memory.own_bytes, __emulated::touched_bytes);
}

TEST(RequireMemory, RefusesWhatDoesNotFit) {
  const Memory memory{"a device", 1 << 20, "its limit", 1 << 10};
  EXPECT_NO_THROW(require_memory(1000, ElementType::int32, (1 << 20) - (1 << 10), memory));
  try {
    require_memory(1 << 18, ElementType::int32, 1 << 20, memory);
    FAIL() << "1 MiB of input and what the device itself needs do not fit in 1 MiB";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(),
                 "2^18 int32 need 1.001 MiB, and a device has 1 MiB free (its limit); choose fewer elements");
  }
}

}  // namespace
}  // namespace reduction
