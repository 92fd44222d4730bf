#pragma once

#include <filesystem>

#include "harness/element_type.hpp"

namespace reduction {

/// The memory that a run has to fit into, and whose it is.
struct Memory {
  std::string owner;
  std::size_t free_bytes;
  std::string_view bound = {};  ///< by which it is so little: "ulimit -v"; empty: by the machine
  std::size_t own_bytes = 0;    ///< of the free ones, for the owner itself: to time, or to emulate threads
};

inline constexpr std::string_view address_space_limit = "ulimit -v";
inline constexpr std::string_view container_limit = "the container's limit";

/// Returns what this process can use of the host without swapping: the least of what the system, its container and its own
/// limit of address space leave.
/// \param container  where the kernel shows the container's limit (cgroup v2, as a process inside sees it).
Memory host_memory(const std::filesystem::path& container = "/sys/fs/cgroup");

/// Returns what the emulated device will have of the host, without opening it.
Memory emulated_memory();

/// "emulated H200 has 213.4 MiB free (ulimit -v)"
std::string to_string(const Memory& memory);

/// Throws DeviceError if `bytes`, which that many elements take with all that is made of them, do not fit beside the owner's
/// own.
void require_memory(std::uint64_t elements, ElementType type, std::size_t bytes, const Memory& memory);

}  // namespace reduction
