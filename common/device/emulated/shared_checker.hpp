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

/// Remembers, for each 4-byte word of a block's shared memory, who wrote and read it last, and with that sees
/// races and reads of what nobody has written. What matters is whether a barrier orders two accesses, not
/// which of them came first, so the verdict is the same in every schedule.
class SharedChecker {
 public:
  explicit SharedChecker(std::size_t bytes)
      : words_{bytes / word_bytes * sizeof(Word), Backing::as_touched},
        read_moments_{bytes / word_bytes * sizeof(ReadMoments), Backing::as_touched} {}

  /// \param offset  of the access from the beginning of shared memory.
  void check(const Access& access, std::size_t offset, unsigned thread, std::size_t block,
             const HappensBefore& order, CaseFile& findings);

 private:
  static constexpr std::size_t word_bytes = 4;

  /// The threads that have read a word since it was written, as far as a write could race with them.
  struct alignas(64) Word {
    Moment written;  ///< 0 is before every block
    Moment read;  ///< the beginning of the interval, between barriers of their warp, in which `readers` read
    const void* write_site;
    const void* read_site;
    const void* other_read_site;
    std::uint32_t readers;  ///< lanes of read_warp
    std::uint16_t writer;
    std::uint16_t read_warp;
    std::uint16_t other_reader;  ///< a thread of another warp than read_warp
    bool read_by_warps;          ///< whether there is one
    bool atomic;                 ///< whether the write was one
    bool atomic_by_warps;  ///< whether atomics of several warps have written since the last block barrier
  };
  using ReadMoments = std::array<Moment, warp_size>;  ///< by lane; only written while a warp meets in parts

  struct Reader {
    unsigned thread;
    const void* call_site;
  };

  Word& word(std::size_t index) const { return reinterpret_cast<Word*>(words_.begin())[index]; }
  ReadMoments& read_moments(std::size_t index) const {
    return reinterpret_cast<ReadMoments*>(read_moments_.begin())[index];
  }

  bool races_with_write(const Word& word, Operation operation, unsigned thread,
                        const HappensBefore& order) const;
  std::optional<Reader> racing_reader(std::size_t index, unsigned thread, const HappensBefore& order) const;
  void note_read(std::size_t index, unsigned thread, const void* call_site, const HappensBefore& order);
  void note_write(std::size_t index, const Access& access, unsigned thread, const HappensBefore& order);

  Mapping words_;
  Mapping read_moments_;
};

}  // namespace reduction::emulated
