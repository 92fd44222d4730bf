#pragma once

#include <algorithm>
#include <cstdint>

namespace reduction {

/// The elements of one rank: `first` to `first + count - 1` of the input.
struct Shard {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Gives each of `ranks` ranks neighbouring elements, and none more than one element above another.
constexpr Shard shard_of(std::uint64_t n, int rank, int ranks) {
  const auto number = static_cast<std::uint64_t>(rank);
  const auto count = static_cast<std::uint64_t>(ranks);
  const std::uint64_t each = n / count;
  const std::uint64_t longer = n % count;  // so many ranks, the first ones, have one element more
  return {number * each + std::min(number, longer), each + (number < longer ? 1 : 0)};
}

}  // namespace reduction
