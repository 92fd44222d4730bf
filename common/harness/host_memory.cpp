#include "harness/host_memory.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "device/host_threads.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

std::size_t available_in_system() {
  std::ifstream meminfo("/proc/meminfo");
  for (std::string key; meminfo >> key;) {
    std::size_t kibibytes = 0;
    if (key == "MemAvailable:" && meminfo >> kibibytes) return kibibytes * 1024;
  }
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Returns what a container's limit leaves. "max" is not a number and means no limit.
std::size_t available_in(const std::filesystem::path& container) {
  std::size_t limit = 0;
  std::size_t used = 0;
  if (!(std::ifstream(container / "memory.max") >> limit)) return no_limit;
  if (!(std::ifstream(container / "memory.current") >> used)) return no_limit;
  return limit > used ? limit - used : 0;
}

}  // namespace

HostMemory available_host_memory(const std::filesystem::path& container) {
  HostMemory least{available_in_system(), ""};
  for (const HostMemory& other : {HostMemory{available_in(container), container_limit},
                                  HostMemory{available_address_space(), address_space_limit}}) {
    if (other.bytes < least.bytes) least = other;
  }
  return least;
}

std::string host_memory_text() {
  const HostMemory memory = available_host_memory();
  return fmt::format("{} are free{}", bytes_text(static_cast<double>(memory.bytes)),
                     memory.bound.empty() ? "" : fmt::format(" ({})", memory.bound));
}

}  // namespace reduction
