#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "harness/element_type.hpp"

namespace reduction {

/// One element of any type, as it lies in memory.
struct Value {
  ElementType type = ElementType::int32;
  alignas(16) std::array<std::byte, 16> bytes{};
};

/// Returns component `part` of a value whose components are stored as Real.
template <typename Real> Real part_of(const Value& value, std::size_t part);

/// Writes it as a reader would: -17, 3.25, (1.5, -2); as many digits as tell neighbouring values apart.
std::string to_string(const Value& value);

}  // namespace reduction
