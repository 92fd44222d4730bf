#pragma once
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/clock.hpp"

namespace __emulated {

/// The bytes of a word, a bit each.
inline constexpr unsigned whole_word = 0xf;

/// What is kept of an access to a word, beside its thread and its moment. Packed, as the kind of each access is looked up.
class AccessKind {
 public:
  enum Flag : unsigned {
    unwritten = 1,  ///< a read before the block, or the host, has written the word
    is_volatile = 2,
    knows_atomics = 4,   ///< the thread knows of an atomic of its block on global memory,
    follows_atomic = 8,  ///< and of one on the same word,
    follows_write = 16,  ///< a read of a word that the block itself has written before
    // The same since the block has last told others:
    just_follows_atomic = 32,
    just_follows_write = 64,
    follows_fence = 128,  ///< the thread knows of a fence of its block that reaches the device
    is_for_block = 256    ///< an atomic operation that is one to its block only
  };

  AccessKind() = default;
  /// \param mask  the bytes of the word that it touches; \param flags  a sum of them.
  AccessKind(const Access& access, unsigned mask, unsigned flags)
      : call_site_{access.call_site},
        bits_{static_cast<unsigned>(access.operation) | static_cast<unsigned>(access.bytes) << 8 |
              mask << 16 | std::uint64_t{flags} << 24} {}

  const void* call_site() const { return call_site_; }
  Operation operation() const { return static_cast<Operation>(bits_ & 0xff); }
  unsigned bytes() const { return static_cast<unsigned>(bits_ >> 8 & 0xff); }
  unsigned mask() const { return static_cast<unsigned>(bits_ >> 16 & 0xff); }
  bool has(Flag flag) const { return (bits_ >> 24 & flag) != 0; }
  void add(Flag flag) { bits_ |= std::uint64_t{flag} << 24; }
  void remove(Flag flag) { bits_ &= ~(std::uint64_t{flag} << 24); }
  /// Whether it and one of another block can be a race, if nothing orders them.
  bool can_race_across(const AccessKind& other) const {
    return can_race(operation(), other.operation()) || has(is_for_block) || other.has(is_for_block);
  }
  bool writes() const { return operation() != Operation::load; }

  auto operator<=>(const AccessKind&) const = default;

  /// What such an access to a word of the buffer is to, in a finding's words.
  std::string describe(const Buffer& buffer, const std::byte* word) const {
    return buffer.describe(word + std::countr_zero(mask()), bytes());
  }
  Witness action(std::size_t block, unsigned thread) const {
    return access_by(block, thread, operation(), call_site_);
  }

 private:
  const void* call_site_ = nullptr;
  std::uint64_t bits_ = 0;
};

/// Accesses of a kind by a thread, and the moment of the last of them.
struct KindAccess {
  unsigned kind;
  unsigned thread;
  Moment moment;

  auto operator<=>(const KindAccess&) const = default;
};

/// What a block did to a word. Threads count from the first one's, so that words that different threads treat alike share one.
using KindSet = std::vector<KindAccess>;

}  // namespace __emulated
