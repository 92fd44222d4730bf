#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "device/emulated/evidence.hpp"
#include "device/emulated/happens_before.hpp"
#include "device/emulated/mapping.hpp"
#include "device/emulated/operation.hpp"

namespace reduction::emulated {

/// Remembers, for each 4-byte word of a block's shared memory, who stored to it, read it and updated it atomically
/// last, and with that sees races and reads of what nobody has written. What matters is whether a barrier orders two accesses, not
/// which of them came first, so the verdict is the same in every schedule.
class SharedChecker {
 public:
  explicit SharedChecker(std::size_t bytes)
      : words_{bytes / word_bytes * sizeof(Word), Backing::as_touched},
        moments_{bytes / word_bytes * sizeof(WordMoments), Backing::as_touched} {}

  /// \param offset  of the access from the beginning of shared memory.
  void check(const Access& access, std::size_t offset, unsigned thread, std::size_t block,
             const HappensBefore& order, CaseFile& findings);

 private:
  static constexpr std::size_t word_bytes = 4;

  /// The threads that have done one thing, read a word or updated it atomically, since the last block barrier, as
  /// far as another access could race with them.
  struct Accessors {
    Moment interval;  ///< the beginning of the one, between barriers of their warp, in which `lanes` did it
    const void* site;
    const void* other_site;
    std::uint32_t lanes;  ///< of `warp`
    std::uint16_t warp;
    std::uint16_t other;  ///< a thread of another warp
    bool by_warps;        ///< whether there is one
  };

  /// Each kind of access is kept on its own: none of them hides what the others still race with.
  struct alignas(64) Word {
    Moment written;  ///< by a plain store; 0 is before every block
    const void* write_site;
    std::uint16_t writer;
    Accessors readers;
    Accessors atomics;
  };
  using LaneMoments = std::array<Moment, warp_size>;  ///< only written while a warp meets in parts
  struct WordMoments {
    LaneMoments readers;
    LaneMoments atomics;
  };

  struct Accessor {
    unsigned thread;
    const void* call_site;
  };

  Word& word(std::size_t index) const { return reinterpret_cast<Word*>(words_.begin())[index]; }
  WordMoments& moments(std::size_t index) const {
    return reinterpret_cast<WordMoments*>(moments_.begin())[index];
  }

  static std::optional<Accessor> racing(const Accessors& accessors, const LaneMoments& moments,
                                        unsigned thread, const HappensBefore& order);
  static void note(Accessors& accessors, LaneMoments& moments, unsigned thread, const void* call_site,
                   const HappensBefore& order);

  Mapping words_;
  Mapping moments_;
};

}  // namespace reduction::emulated
