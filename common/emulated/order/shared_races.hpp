#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/happens_before.hpp"

namespace __emulated {

/// Remembers, for each 4-byte word of a block's shared memory, or each byte of a word that threads access by bytes, who
/// stored to it, read it and updated it atomically last, and with that sees races and reads of what nobody has written.
/// What matters is whether a barrier orders two accesses, not which of them came first, so what is found is the same in
/// every schedule.
class SharedRaces {
 public:
  /// \param memory, order  the block's; \param faults  what is seen is added to these. All outlive this.
  SharedRaces(const SharedMemory& memory, const HappensBefore& order, FaultLog& faults);

  void begin_block(std::size_t block) { block_ = block; }

  /// \param offset  of the access, from the beginning of shared memory.
  void check(const Access& access, std::size_t offset, unsigned thread) {
    const std::size_t word = offset / word_bytes;
    if (access.bytes == word_bytes && !is_split(word)) {
      check_cell(words_.cell(word), words_.moments(word), access, thread, access.may_be_padding(0));
    } else {
      check_parts(access, thread);
    }
  }

 private:
  /// The threads that have done one thing, read a word or updated it atomically, since the last block barrier, if
  /// another access could race with them.
  struct Accessors {
    Moment interval;  ///< the beginning of the one, between barriers of their warp, in which `lanes` did it
    const void* site;
    const void* other_site;
    std::uint32_t lanes;    ///< of `warp`
    std::uint32_t at_site;  ///< those of them that did it there the last time,
    std::uint32_t
        at_other_site;  ///< and those that did it at another place; none if a thread of another warp did
    std::uint16_t warp;
    std::uint16_t other;   ///< a thread of another warp
    bool by_warps;         ///< whether there is one
    std::uint32_t others;  ///< the first group of all such threads, from 1
  };

  /// Threads of a further warp that have done the same: not only barriers may order them with others.
  struct Group {
    Moment moment;
    const void* site;
    std::uint32_t lanes;
    std::uint32_t next;  ///< from 1
    std::uint16_t warp;
  };

  /// What was done to a word, or a byte. Each kind of access is kept on its own: none of them hides what the others
  /// still race with.
  struct alignas(64) Cell {
    Moment written;  ///< by a plain store; 0 is before every block
    const void* write_site;
    std::uint16_t writer;
    Accessors readers;
    Accessors atomics;
    Moment split;  ///< of a word: since when its bytes are followed one by one
  };
  using LaneMoments = std::array<Moment, warp_size>;  ///< only written while a warp meets in parts
  struct CellMoments {
    LaneMoments readers;
    LaneMoments atomics;
  };

  /// Cells, which take memory once they are touched.
  class Cells {
   public:
    explicit Cells(std::size_t count)
        : cells_{count * sizeof(Cell), Backing::as_touched},
          moments_{count * sizeof(CellMoments), Backing::as_touched} {}
    Cell& cell(std::size_t index) const { return reinterpret_cast<Cell*>(cells_.begin())[index]; }
    CellMoments& moments(std::size_t index) const {
      return reinterpret_cast<CellMoments*>(moments_.begin())[index];
    }

   private:
    Mapping cells_;
    Mapping moments_;
  };

  bool is_split(std::size_t word) const { return words_.cell(word).split >= order_.block_begin(); }
  void check_parts(const Access& access, unsigned thread);
  void split(std::size_t word);
  void check_cell(Cell& before, CellMoments& moments, const Access& access, unsigned thread,
                  bool may_be_padding);
  void report_race(const Access& access, unsigned thread, const Accessor& other, Operation operation);
  void report_read_of_nothing(const Access& access, unsigned thread);
  std::string describe(const Access& access) const {
    return memory_.describe(memory_.offset_of(access.address), access.bytes);
  }
  bool is_written(const Cell& cell) const;
  bool is_partly_written(std::size_t word) const;
  /// Whether any thread but this one may race with it: most have no other in a cell.
  bool may_race(const Accessors& accessors, unsigned thread) const {
    if (accessors.lanes == 0 || accessors.interval < order_.last_block_barrier()) return false;
    return accessors.by_warps || accessors.warp != thread / warp_size ||
           accessors.lanes != bit_of(thread % warp_size);
  }
  std::optional<Accessor> racing(const Accessors& accessors, const LaneMoments& moments,
                                 unsigned thread) const;
  static const void* site_of(const Accessors& accessors, unsigned lane);
  static void note_site(Accessors& accessors, std::uint32_t own, const void* call_site);
  void note(Accessors& accessors, LaneMoments& moments, unsigned thread, const void* call_site);
  void note_other(Accessors& accessors, unsigned thread, const void* call_site);
  std::uint32_t copied(std::uint32_t group);

  const SharedMemory& memory_;
  const HappensBefore& order_;
  FaultLog& faults_;
  std::size_t block_ = 0;
  Cells words_;
  Cells bytes_;
  std::vector<Group> groups_;
  Moment groups_begin_ = 0;  ///< the block barrier since which they count
};

}  // namespace __emulated
