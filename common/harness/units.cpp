#include "harness/units.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <string_view>

namespace reduction {

std::string count_text(std::uint64_t count) {
  if (count >= 1024 && std::has_single_bit(count)) return fmt::format("2^{}", std::bit_width(count) - 1);
  return fmt::format("{}", count);
}

std::string bytes_text(double bytes) {
  constexpr std::array<std::string_view, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

std::string or_dash(const std::optional<double>& number, int digits) {
  return number ? fmt::format("{:.{}f}", *number, digits) : "–";
}

}  // namespace reduction
