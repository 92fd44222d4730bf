/// What `ulimit -v` leaves is in executables_test.cpp.
#include "harness/memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "device/device_error.hpp"
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
