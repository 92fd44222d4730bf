#pragma once

#include <cstddef>

namespace reduction {

/// Host memory in bytes that this process can use now without swapping: what the system has left, its container, and
/// its own limit of address space.
std::size_t available_host_bytes();

}  // namespace reduction
