#include "harness/memory.hpp"

#include <fmt/format.h>

#include <fstream>
#include <limits>

#include "device/device_error.hpp"
#include "emulated/run/device.hpp"
#include "emulated/run/host_threads.hpp"
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
  return no_limit;
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

Memory host_memory(const std::filesystem::path& container) {
  Memory least{"the host", available_in_system()};
  const auto leaves = [&](std::size_t bytes, std::string_view bound) {
    if (bytes < least.free_bytes) least = {"the host", bytes, bound};
  };
  leaves(available_in(container), container_limit);
  leaves(__emulated::available_address_space(), address_space_limit);
  return least;
}

Memory emulated_memory() {
  Memory memory = host_memory();
  memory.owner = __emulated::device_name;
  memory.own_bytes =
      memory.bound == address_space_limit ? __emulated::reserved_bytes : __emulated::touched_bytes;
  return memory;
}

std::string to_string(const Memory& memory) {
  return fmt::format("{} has {} free{}", memory.owner, bytes_text(static_cast<double>(memory.free_bytes)),
                     memory.bound.empty() ? "" : fmt::format(" ({})", memory.bound));
}

void require_memory(std::uint64_t elements, ElementType type, std::size_t bytes, const Memory& memory) {
  const std::size_t needed = bytes + memory.own_bytes;
  if (needed <= memory.free_bytes) return;
  throw DeviceError(fmt::format("{} {} need {}, and {}; choose fewer elements", count_text(elements),
                                to_string(type), bytes_text(static_cast<double>(needed)), to_string(memory)));
}

}  // namespace reduction
