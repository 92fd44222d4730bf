#include <cstdint>

#include "cases.cuh"

namespace reduction {

std::vector<Case> small_types() {
  return {min_case<std::int8_t>("min_int8"),   sum_case<std::int8_t>("sum_int8"),
          max_case<std::uint8_t>("max_uint8"), max_case<std::int16_t>("max_int16"),
          sum_case<std::int16_t>("sum_int16"), max_case<__half>("max_half")};
}

}  // namespace reduction
