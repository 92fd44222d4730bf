#pragma once

#include <cstddef>

namespace reduction {

/// Returns how many bytes of host memory this process can use now without swapping: what the system, its container and
/// its own limit of address space leave.
std::size_t available_host_bytes();

}  // namespace reduction
