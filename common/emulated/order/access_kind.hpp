#pragma once
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/fence_order.hpp"

namespace __emulated {

/// What is kept of an access to a word of global memory, beside its thread and its moment.
struct AccessKind {
  // Flags, the most telling first.
  static constexpr std::uint8_t knows_atomics =
      8;  ///< the thread knows of an atomic of its block on global memory,
  static constexpr std::uint8_t follows_atomic = 4;  ///< and of one on the same word
  static constexpr std::uint8_t unwritten =
      2;  ///< a read before the block, or the host, has written the word
  static constexpr std::uint8_t is_volatile = 1;

  const void* call_site = nullptr;
  GridOrder::WordSet acquired =
      GridOrder::none;  ///< on which the thread has acquired what lower blocks have released
  Operation operation{};
  std::uint8_t bytes = 0;
  std::uint8_t mask = 0;  ///< the bytes of the word that it touches
  std::uint8_t flags = 0;

  bool has(unsigned flag) const { return (flags & flag) != 0; }
  bool writes() const { return operation != Operation::load; }
  bool can_race_with(const AccessKind& other) const {
    return (mask & other.mask) != 0 && can_race(operation, other.operation);
  }

  auto operator<=>(const AccessKind&) const = default;
  /// Without a look at each member.
  bool equals(const AccessKind& other) const {
    static_assert(std::has_unique_object_representations_v<AccessKind>);
    return std::memcmp(this, &other, sizeof(AccessKind)) == 0;
  }

  /// What such an access to a word of the buffer is to, in a finding's words.
  std::string describe(const Buffer& buffer, const std::byte* word) const {
    return buffer.describe(word + std::countr_zero(mask), bytes);
  }
  Witness action(std::size_t block, unsigned thread) const {
    return access_by(block, thread, operation, call_site);
  }
};

/// A kind of access as it matters to other blocks.
struct GridAccessKind : AccessKind {
  GridOrder::WordSet released = GridOrder::none;  ///< the words on which it is
  Untold untold{};                                ///< where it is on none

  auto operator<=>(const GridAccessKind&) const = default;
};

}  // namespace __emulated
