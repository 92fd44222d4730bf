#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/access_kind.hpp"
#include "emulated/order/fence_order.hpp"
#include "emulated/order/grid_races.hpp"
#include "emulated/order/happens_before.hpp"
#include "emulated/order/numbering.hpp"

namespace __emulated {

/// Remembers what the threads of a block did to each word of global memory, and with that sees races within the block.
/// What other blocks need to know of it goes to GridRaces at its end.
class GlobalRaces {
 public:
  /// \param order, fences  the block's, which outlive this.
  GlobalRaces(const HappensBefore& order, const FenceOrder& fences)
      : order_{order}, fences_{fences}, slots_(least_slots) {}

  void check(const Access& access, Buffer& buffer, unsigned thread);

  /// Hands over what the block did: its races to `faults`, the rest to `grid`.
  void end_block(std::size_t block, FaultLog& faults, GridRaces& grid);

 private:
  /// The lanes of a warp that made accesses of a kind, and when each did so the last time: a block's moments count from its
  /// beginning.
  struct LaneGroup {
    std::uint32_t kind;
    std::uint32_t moment;
    std::uint32_t lanes;
    std::uint32_t next;  ///< of the word, from 1
    std::uint16_t warp;
    bool is_only_one;  ///< of these lanes' accesses of the kind
  };

  /// What was done to a word: nothing, accesses of one kind by one thread, or what groups say.
  struct ShadowWord {
    std::uint32_t moment = 0;  ///< of the thread; with groups, whether there is more than loads
    std::uint32_t bits = 0;

    static std::uint32_t bits_of(unsigned kind, unsigned thread) { return (kind + 1) << 10 | thread; }
    bool is_empty() const { return bits == 0; }
    bool has_groups() const { return (bits & in_groups) != 0; }
    std::uint32_t first_group() const { return bits & ~in_groups; }
    unsigned kind() const { return (bits >> 10) - 1; }
    unsigned thread() const { return bits & 0x3ff; }
  };

  struct ShadowLine {
    Buffer* buffer;
    std::size_t number;  ///< in the buffer
    std::array<ShadowWord, words_in_line> words;
  };

  struct Slot {
    const std::byte* begin = nullptr;  ///< of the line
    ShadowLine* line = nullptr;
  };

  struct RacingAccess {
    AccessKind kind;
    unsigned thread;
  };

  struct Race {
    const std::byte* word;
    const Buffer* buffer;
    RacingAccess one;
    RacingAccess other;
    bool between_warps;
    bool after_warp_barrier;
  };

  unsigned number_of(const AccessKind& kind);
  ShadowLine& line_of(Buffer& buffer, std::size_t offset);
  ShadowLine& new_line(Buffer& buffer, std::size_t number);
  Slot& slot_of(const std::byte* begin);
  void check_word(ShadowWord& shadow, const std::byte* word, const Buffer& buffer, unsigned kind,
                  unsigned thread);
  AccessKind check_groups(const ShadowWord& shadow, const std::byte* word, const Buffer& buffer,
                          AccessKind self, unsigned thread);
  void note(ShadowWord& shadow, unsigned kind, unsigned thread, std::uint32_t moment);
  void note_race(const Race& race);
  void report_races(std::size_t block, FaultLog& faults);
  unsigned grid_kind_of(unsigned kind, unsigned thread, std::uint32_t moment);
  unsigned set_of(const BlockSummary::KindSet& kinds);
  BlockSummary::Word summary_of(const ShadowWord& shadow);
  void summarise(const ShadowLine& line);
  std::uint32_t now(unsigned thread) const {
    return static_cast<std::uint32_t>(order_.now(thread) - order_.block_begin());
  }
  void clear();

  static constexpr std::uint32_t in_groups = 1U << 31;
  static constexpr std::size_t least_slots = 64;
  static constexpr std::size_t lines_in_slab = 128;

  const HappensBefore& order_;
  const FenceOrder& fences_;
  Numbering<AccessKind> kinds_;
  std::array<unsigned, 64> recent_{};  ///< kinds, from 1
  std::vector<std::unique_ptr<ShadowLine[]>> slabs_;
  std::size_t lines_ = 0;    ///< of the slabs that are in use
  std::vector<Slot> slots_;  ///< a hash table of them
  std::vector<LaneGroup> groups_;
  std::vector<Race> races_;  ///< one for each pair of access sites

  // While the block ends.
  BlockSummary summary_;
  /// What other blocks may know of a thread's accesses at a moment.
  struct Told {
    Moment moment = 0;
    bool knew = false;  ///< of atomics
    GridOrder::WordSet released = GridOrder::none;
    Untold untold = Untold::lacks_fence;
  };
  std::vector<Told> told_;               ///< what was last looked up, for each thread
  std::vector<unsigned> set_of_kind_;    ///< alone, where there are no fences
  BlockSummary::KindSet kinds_of_word_;  ///< while they are read
  BlockSummary::KindSet kinds_of_last_word_;
  unsigned set_of_last_word_ = 0;
};

}  // namespace __emulated
