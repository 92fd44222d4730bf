#include "harness/value.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace reduction {

template <typename Real> Real part_of(const Value& value, std::size_t part) {
  Real real;
  std::memcpy(&real, value.bytes.data() + part * sizeof(Real), sizeof(Real));
  return real;
}

template std::uint32_t part_of<std::uint32_t>(const Value&, std::size_t);
template std::uint64_t part_of<std::uint64_t>(const Value&, std::size_t);
template float part_of<float>(const Value&, std::size_t);
template double part_of<double>(const Value&, std::size_t);

std::string to_string(const Value& value) {
  return visit_real(value.type, [&]<typename Real>(Real) {
    if constexpr (std::is_integral_v<Real>) {
      return fmt::format("{}", static_cast<std::make_signed_t<Real>>(part_of<Real>(value, 0)));
    } else if (is_complex(value.type)) {
      return fmt::format("({}, {})", part_of<Real>(value, 0), part_of<Real>(value, 1));
    } else {
      return fmt::format("{}", part_of<Real>(value, 0));
    }
  });
}

}  // namespace reduction
