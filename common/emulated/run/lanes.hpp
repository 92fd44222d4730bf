#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace __emulated {

inline constexpr unsigned warp_size = 32;

/// The lanes of all warps that so many threads take.
constexpr unsigned in_whole_warps(unsigned threads) {
  return (threads + warp_size - 1) / warp_size * warp_size;
}

/// A set of a warp's lanes is a word with a bit for each; this is the bit of one.
constexpr unsigned bit_of(unsigned lane) { return 1U << lane; }

/// The lanes of a set in ascending order, for a range-based for.
class lanes_of {
 public:
  struct Iterator {
    unsigned rest;
    unsigned operator*() const { return static_cast<unsigned>(std::countr_zero(rest)); }
    Iterator& operator++() {
      rest &= rest - 1;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return rest != other.rest; }
  };

  constexpr explicit lanes_of(unsigned lanes) : lanes_{lanes} {}
  Iterator begin() const { return {lanes_}; }
  Iterator end() const { return {0}; }

 private:
  unsigned lanes_;
};

/// From which lane a shuffle takes its value, relative to its operand.
enum class Shuffle : unsigned char { indexed, up, down, exclusive_or };

/// What a group of lanes brings to a vote or a reduction of its warp.
struct Votes {
  unsigned lanes = 0;
  std::array<std::uint64_t, warp_size> values{};  ///< of the lanes
};

/// What a lane gets of them. Also tells one function of a warp from another.
using VoteRule = std::uint64_t (*)(const Votes& votes, unsigned lane);

std::uint64_t ballot(const Votes& votes, unsigned lane);
std::uint64_t any(const Votes& votes, unsigned lane);
std::uint64_t all(const Votes& votes, unsigned lane);
std::uint64_t lanes_with_equal_value(const Votes& votes, unsigned lane);
std::uint64_t lanes_if_all_equal(const Votes& votes, unsigned lane);  ///< else none

/// Joins the lanes' values, two at a time.
template <typename T, typename Operation> std::uint64_t reduced(const Votes& votes, Operation operation) {
  T result{};
  bool is_first = true;
  for (const unsigned lane : lanes_of(votes.lanes)) {
    const T value = static_cast<T>(votes.values[lane]);
    result = is_first ? value : operation(result, value);
    is_first = false;
  }
  return static_cast<std::make_unsigned_t<T>>(result);
}

}  // namespace __emulated
