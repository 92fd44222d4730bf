#pragma once

#include <cstddef>

namespace reduction {

/// Host memory that can be used now without swapping, in bytes: MemAvailable of /proc/meminfo where there is one,
/// else all physical memory.
std::size_t available_host_bytes();

}  // namespace reduction
