#pragma once
#include <cstddef>

namespace reduction::emulated {

/// Whether the address is in a variable of the program with static storage: here that is what a kernel's `__device__`
/// variable is.
bool in_device_variable(const std::byte* address);

}  // namespace reduction::emulated
