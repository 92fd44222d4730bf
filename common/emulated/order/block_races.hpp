#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/access_kind.hpp"
#include "emulated/order/grid_races.hpp"
#include "emulated/order/happens_before.hpp"
#include "emulated/order/numbering.hpp"
#include "emulated/order/ranked_faults.hpp"

namespace __emulated {

/// Remembers what the threads of a block did to each word of shared and global memory, and with that sees races within the
/// block. What matters is whether something orders two accesses, not which of them came first, so that what is found is the same
/// in every schedule. What other blocks need to know goes to GridRaces.
class BlockRaces {
 public:
  /// \param shared  the block's; \param faults  what is seen is added to these. Both outlive this.
  BlockRaces(const SharedMemory& shared, FaultLog& faults, unsigned threads)
      : shared_{shared}, faults_{faults}, order_{threads, [this] { publish(false); }}, slots_(least_slots) {}
  BlockRaces(const BlockRaces&) = delete;
  BlockRaces& operator=(const BlockRaces&) = delete;

  void begin_block(std::size_t block, unsigned threads, GridRaces& grid);
  /// The number of a copier. What it does from now on it does for the thread. \param number  below 32.
  unsigned copier(unsigned number, unsigned thread) {
    copies_of_[number] = thread;
    return order_.first_copier() + number;
  }

  /// Is told of barriers and fences, but for those of the grid.
  HappensBefore& order() { return order_; }

  /// Throws where the block makes more kinds of accesses than can be followed. \param buffer  of global memory.
  template <bool is_shared> void check(const Access& access, Buffer* buffer, unsigned thread);
  void atomic(unsigned thread, const HappensBefore::Update& update);

  /// Other blocks may run atomics before this one goes on.
  void give_way();
  /// All threads of the grid have met; then GridRaces::begin_phase() is called once.
  void grid_barrier();
  /// Hands over what other blocks need to know, and what races there were within this one.
  void end_block();

 private:
  /// Lanes of a warp that made accesses of a kind, and when each did so the last time.
  struct LaneGroup {
    std::uint32_t kind;
    Moment moment;
    std::uint32_t lanes;
    std::uint32_t next;  ///< of the word, from 1
    std::uint16_t warp;
    bool is_only_one;  ///< of these lanes' accesses of the kind
  };

  using Groups = std::vector<LaneGroup>;

  /// What was done to a word: nothing, accesses of some kinds by one thread at one moment, or what groups say.
  struct ShadowWord {
    Moment moment = 0;  ///< of the last access
    std::uint32_t bits = 0;

    static ShadowWord by_thread(unsigned set, unsigned thread, Moment at) {
      return {at, (set + 1) << 11 | thread};
    }
    static ShadowWord of_groups(std::uint32_t first, std::uint32_t operations, Moment at) {
      return {at, in_groups | operations | first};
    }
    bool is_empty() const { return bits == 0; }
    bool has_groups() const { return (bits & in_groups) != 0; }
    // Of groups:
    std::uint32_t operations() const { return bits & (with_writes | with_plain); }
    bool has_writes() const { return (bits & with_writes) != 0; }
    bool has_plain() const { return (bits & with_plain) != 0; }  ///< accesses that are no atomics
    std::uint32_t first_group() const { return bits & ~(in_groups | with_writes | with_plain); }
    unsigned set() const { return (bits >> 11) - 1; }  ///< of the kinds
    unsigned thread() const { return bits & 0x7ff; }
  };

  struct ShadowLine {
    Buffer* buffer;
    const std::byte* begin;
    bool is_published;  ///< as far as it was touched
    std::array<ShadowWord, words_in_line> words;
  };

  /// A kind that was looked up before.
  struct Recent {
    AccessKind kind;
    unsigned number = 0;
    unsigned alone = 0;  ///< the set of this kind
  };

  /// A set of kinds and one more kind.
  struct Joined {
    bool is_known = false;
    unsigned set = 0;
    unsigned kind = 0;
    unsigned both = 0;
  };
  static constexpr unsigned no_set = ~0U;

  const Recent& number_of(const AccessKind& kind);
  Recent look_up(const AccessKind& kind);
  unsigned number_of_set(const std::vector<unsigned>& kinds);
  unsigned with(unsigned set, unsigned kind);
  void join(Joined& joined, unsigned set, unsigned kind);
  template <bool is_shared>
  void check_part(const Access& access, Buffer* buffer, unsigned thread, const std::byte* begin,
                  std::size_t at, unsigned mask);
  ShadowLine& line_of(Buffer& buffer, std::size_t number);
  ShadowWord& shared_word(std::size_t number);
  ShadowLine& new_line(Buffer& buffer, const std::byte* begin);
  ShadowLine*& slot_of(const std::byte* begin);
  void check_written(const Access& access, std::uint8_t& written, unsigned mask, unsigned thread,
                     bool may_be_padding);
  void report_read(const Access& access, unsigned thread);
  void check_word(ShadowWord& shadow, const std::byte* word, const Buffer* buffer, unsigned kind,
                  unsigned thread, Groups& groups);
  bool is_joined(ShadowWord& shadow, const Recent& kind, unsigned thread, Moment moment, Groups& groups);
  AccessKind check_groups(const ShadowWord& shadow, const std::byte* word, const Buffer* buffer,
                          AccessKind self, unsigned thread, const Groups& groups);
  void note(ShadowWord& shadow, unsigned kind, unsigned thread, Moment moment, Groups& groups);
  void note_race(const AccessKind& self, unsigned thread, const AccessKind& other, unsigned other_thread,
                 const std::byte* word, const Buffer* buffer);
  /// Tells other blocks what this one did to global memory since the last time. \param is_last  whether it has ended.
  void publish(bool is_last);
  void summarise(const ShadowLine& line);
  BlockSummary::Word summary_of(const ShadowWord& shadow);
  void clear();

  static constexpr std::uint32_t in_groups = 1U << 31;
  static constexpr std::uint32_t with_writes = 1U << 30;
  static constexpr std::uint32_t with_plain = 1U << 29;
  static constexpr std::size_t least_slots = 64;
  static constexpr std::size_t lines_in_slab = 128;
  static constexpr std::size_t most_lines_in_summary = 4096;

  const SharedMemory& shared_;
  FaultLog& faults_;
  HappensBefore order_;
  std::size_t block_ = 0;
  GridRaces* grid_ = nullptr;
  bool has_run_atomics_ = false;  ///< since it has last told others
  Numbering<AccessKind> kinds_;
  std::array<Recent, 256> recent_{};
  Numbering<std::vector<unsigned>> sets_;  ///< of kinds, ascending
  std::array<Joined, 64> joined_{};
  std::vector<unsigned> summaries_;  ///< of each set, for other blocks: from 1, where threads are alike
  std::vector<std::unique_ptr<ShadowLine[]>> slabs_;
  std::size_t lines_ = 0;             ///< of the slabs that are in use
  std::vector<ShadowLine*> slots_;    ///< a hash table of them
  std::vector<ShadowLine*> touched_;  ///< since they were published
  std::vector<ShadowWord> shared_words_;
  std::vector<std::uint8_t> written_;  ///< which bytes of each of them the block has written
  Groups global_groups_;
  Groups shared_groups_;
  Moment groups_since_ = 0;  ///< the barrier since which those of shared memory count
  RankedFaults races_;
  std::uint64_t shared_races_ = 0;               ///< that have been noted
  std::array<unsigned, warp_size> copies_of_{};  ///< the thread for which each copier copies

  // While the block publishes what it did.
  BlockSummary summary_;
  bool are_threads_alike_ =
      false;  ///< no other block will ever know of one thread's accesses and not of another's
  KindSet of_word_;
  KindSet of_last_word_;
  unsigned set_of_last_word_ = 0;
};

}  // namespace __emulated
