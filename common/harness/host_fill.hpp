#pragma once

#include <cstdint>

#include "harness/element_type.hpp"
#include "harness/input.hpp"

namespace reduction {

/// Writes elements `first` to `first + count - 1` of `input` to host memory at `data`, on all CPUs of this process.
void fill_host(void* data, const Input& input, ElementType type, std::uint64_t first, std::uint64_t count);

}  // namespace reduction
