#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace reduction {

/// How much host memory this process can use now without swapping: the least of what the system, its container and its
/// own limit of address space leave.
struct HostMemory {
  std::size_t bytes;
  std::string_view bound;  ///< by which it is so little; empty: by the machine
};

inline constexpr std::string_view address_space_limit = "ulimit -v";
inline constexpr std::string_view container_limit = "the container's limit";

/// \param container  where the kernel shows the container's limit (cgroup v2, as a process inside sees it).
HostMemory available_host_memory(const std::filesystem::path& container = "/sys/fs/cgroup");

/// "213.4 MiB are free (ulimit -v)"
std::string host_memory_text();

}  // namespace reduction
