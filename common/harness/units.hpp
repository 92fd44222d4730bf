#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace reduction {

/// Writes 2^20 for a power of two from 1024 on, else all digits: 1000003.
std::string count_text(std::uint64_t count);

/// Writes 1.5 GiB, 60 MiB, 12 B: at most three digits after the point.
std::string bytes_text(double bytes);

/// Writes a number with so many digits after the point; a dash where there is none.
std::string or_dash(const std::optional<double>& number, int digits);

}  // namespace reduction
