#include "harness/element_type.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace reduction {

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
