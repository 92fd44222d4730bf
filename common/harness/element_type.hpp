#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace reduction {

/// What is summed. complex64 is two float32, complex128 two float64.
enum class ElementType { int32, int64, float32, float64, complex64, complex128 };

/// Every type, in the order in which tables list them.
inline constexpr std::array element_types{ElementType::int32,     ElementType::int64,
                                          ElementType::float32,   ElementType::float64,
                                          ElementType::complex64, ElementType::complex128};

/// Returns the name that `--type` takes.
constexpr std::string_view to_string(ElementType type) {
  constexpr std::array<std::string_view, element_types.size()> names{"int32",   "int64",     "float32",
                                                                     "float64", "complex64", "complex128"};
  return names[static_cast<std::size_t>(type)];
}

/// Returns the size of one element in bytes.
constexpr std::size_t size_of(ElementType type) {
  constexpr std::array<std::size_t, element_types.size()> sizes{4, 8, 4, 8, 8, 16};
  return sizes[static_cast<std::size_t>(type)];
}

constexpr bool is_integer(ElementType type) {
  return type == ElementType::int32 || type == ElementType::int64;
}
constexpr bool is_complex(ElementType type) {
  return type == ElementType::complex64 || type == ElementType::complex128;
}

/// Returns the number of real components of one element: 2 for the complex types.
constexpr std::size_t parts_of(ElementType type) { return is_complex(type) ? 2 : 1; }

/// Calls visitor(Real{}) with the type that stores one real component. Integers are stored and added as unsigned:
/// the same bits, and a sum that wraps around is defined.
template <typename Visitor> decltype(auto) visit_real(ElementType type, const Visitor& visitor) {
  switch (type) {
    case ElementType::int32: return visitor(std::uint32_t{});
    case ElementType::int64: return visitor(std::uint64_t{});
    case ElementType::float32:
    case ElementType::complex64: return visitor(float{});
    default: return visitor(double{});
  }
}

/// Returns the rounding unit u of one real component: 2^-24 or 2^-53, 0 for the integers, which are exact.
constexpr double rounding_unit(ElementType type) {
  if (is_integer(type)) return 0.0;
  return size_of(type) / parts_of(type) == sizeof(float) ? 0x1p-24 : 0x1p-53;
}

/// One element of any type, as it lies in memory.
struct Value {
  ElementType type = ElementType::int32;
  alignas(16) std::array<std::byte, 16> bytes{};
};

/// Returns component `part` of a value whose components are stored as Real.
template <typename Real> Real part_of(const Value& value, std::size_t part) {
  Real real;
  std::memcpy(&real, value.bytes.data() + part * sizeof(Real), sizeof(Real));
  return real;
}

/// Writes it as a reader would: -17, 3.25, (1.5, -2); as many digits as tell neighbouring values apart.
std::string to_string(const Value& value);

}  // namespace reduction
