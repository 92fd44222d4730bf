#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/fence_order.hpp"
#include "emulated/order/happens_before.hpp"

namespace __emulated {

/// Words of global memory that are followed together, where neighbouring threads access neighbouring words.
inline constexpr std::size_t words_in_line = 32;
inline constexpr std::size_t line_bytes = words_in_line * word_bytes;

/// What the blocks of a launch did to each word of global memory, for races between blocks and reads of what nobody
/// has written. Blocks add in any order, and nothing here depends on it: the launch is judged when it has ended.
class GridRaces {
 public:
  /// What matters of an access to other blocks.
  struct Kind {
    Operation operation;
    GridOrder::WordSet released;  ///< the words on which it is,
    GridOrder::WordSet acquired;  ///< and on which the thread has acquired what lower blocks have released
    bool knows_atomics;           ///< the thread knows of an atomic of its block on global memory,
    bool follows_atomic;          ///< and of one on the same word
    bool unwritten;               ///< a read before the block, or the host, has written the word
    bool is_volatile;
    Untold untold;      ///< where it is released on no word
    std::uint8_t mask;  ///< the bytes of the word that it touches
    std::size_t bytes;
    const void* call_site;

    auto operator<=>(const Kind&) const = default;
  };

  /// What a block did to a word: the kinds of its accesses, each with the lowest of the threads that made them. Threads count
  /// from the first one's, so that words that different threads treat alike share one of these.
  using Kinds = std::vector<std::pair<unsigned, unsigned>>;

  /// What a block did to a word, or to none where `kinds` is 0.
  struct WordVisit {
    unsigned kinds = 0;  ///< 1 for the block's first
    unsigned thread = 0;
  };

  /// What a block did to the words of a line.
  struct LineVisit {
    Buffer* buffer;
    std::size_t line;   ///< of the buffer
    WordVisit first;    ///< of the first word, if the others follow from it,
    unsigned shift;     ///< one more thread every 2^shift words,
    std::size_t words;  ///< or where in `words` they are, from 1
  };

  /// All that a block did.
  struct Visits {
    std::vector<Kind> kind_table;
    std::vector<Kinds> kinds_table;
    std::vector<LineVisit> lines;
    std::vector<std::array<WordVisit, words_in_line>> words;

    void clear();
  };

  GridOrder& order() { return order_; }

  void add(std::size_t block, const Visits& visits);

  /// What is wrong between blocks, in the order of words, once for each pair of places.
  std::vector<FaultRecord> faults() const;

  /// The words that kernels have stored to count as written from now on.
  void mark_initialised() const;

 private:
  struct Visit {
    std::size_t block;
    unsigned thread;

    auto operator<=>(const Visit&) const = default;
  };

  /// The blocks that made accesses of a kind to a word, ascending: enough of them to name the lowest ones, and to know of any
  /// in conflict.
  struct Visitors {
    unsigned kind;
    std::vector<Visit> visits;
  };
  using Record = std::vector<Visitors>;

  /// One of them, as it is kept: there may be one for each word and more.
  struct Node {
    std::uint32_t next;  ///< of the word, or of the line's words
    std::uint32_t kind;
    std::uint64_t block : 48;
    std::uint64_t thread : 12;
    std::uint64_t shift : 4;  ///< of a line: one more thread every 2^shift words
  };
  static constexpr std::uint32_t no_node = 0;

  /// What was done to a word, or to all words of a line alike: nothing, something by one block, or what nodes say. Or a
  /// line whose words each have a cell.
  class Cell {
   public:
    enum class Tag : unsigned { empty, by_one_block, nodes, words };

    Cell() = default;
    Cell(std::size_t kinds, std::size_t block, unsigned thread, unsigned shift)
        : bits_{std::uint64_t{1} | kinds << 2 | std::uint64_t{thread} << 18 | std::uint64_t{shift} << 28 |
                std::uint64_t{block} << 32} {}
    Cell(Tag tag, std::size_t index) : bits_{static_cast<std::uint64_t>(tag) | index << 2} {}
    static bool fits(std::size_t kinds, std::size_t block) { return kinds < 1U << 16 && block >> 32 == 0; }

    Tag tag() const { return static_cast<Tag>(bits_ & 3); }
    std::size_t index() const { return bits_ >> 2; }
    std::size_t kinds() const { return bits_ >> 2 & 0xffff; }
    unsigned thread() const { return static_cast<unsigned>(bits_ >> 18 & 0x3ff); }
    unsigned shift() const { return static_cast<unsigned>(bits_ >> 28 & 0xf); }
    std::size_t block() const { return bits_ >> 32; }

   private:
    std::uint64_t bits_ = 0;
  };
  using Words = std::array<Cell, words_in_line>;

  /// Of a buffer.
  struct Lines {
    Buffer* buffer;
    Mapping mapping;    ///< a cell for each line
    std::size_t begin;  ///< those that have been touched
    std::size_t end;

    Cell& cell(std::size_t line) const { return reinterpret_cast<Cell*>(mapping.begin())[line]; }
  };

  unsigned number_of(const Kind& kind);
  std::size_t number_of(const Kinds& kinds);
  Lines& lines_of(Buffer& buffer);
  void add(Cell& cell, std::size_t block, std::size_t kinds, unsigned thread, unsigned shift);
  void add(Cell& cell, unsigned kind, const Visit& visit, unsigned shift);
  void spread(Cell& line);
  Record record_of(const Cell& cell, unsigned word) const;
  template <typename Predicate> bool any_node_of(const Cell& cell, const Predicate& is_such) const;
  bool may_be_wrong(const Cell& cell) const;
  bool is_written(const Cell& cell) const;
  bool ordered(unsigned lower_kind, std::size_t lower, unsigned higher_kind, std::size_t higher) const;
  void judge(const Buffer& buffer, std::size_t word, Record record, FaultLog& findings) const;
  void judge_reads(const Buffer& buffer, std::size_t word, const Record& record, FaultLog& findings) const;
  void judge_races(const Buffer& buffer, std::size_t word, const Record& record, FaultLog& findings) const;

  GridOrder order_;
  std::mutex mutex_;
  std::vector<Kind> kinds_;
  std::map<Kind, unsigned> kind_numbers_;
  std::vector<Kinds> sets_;
  std::map<Kinds, std::size_t> set_numbers_;
  std::map<const std::byte*, Lines> lines_;  ///< by buffer
  std::vector<Node> nodes_{1};               ///< from 1
  std::uint32_t free_nodes_ = no_node;
  std::vector<std::unique_ptr<Words>> words_;
};

/// Remembers what the threads of a block did to each word of global memory, and with that sees races within the block.
/// What other blocks need to know of it goes to GridRaces at its end.
class BlockRaces {
 public:
  /// \param fences  the block's, which outlive this.
  explicit BlockRaces(FenceOrder& fences) : fences_{fences}, slots_(least_slots) {}

  void check(const Access& access, Buffer& buffer, unsigned thread, const HappensBefore& order);

  /// Hands over what the block did: its races to `findings`, the rest to `launch`.
  void end_block(std::size_t block, const HappensBefore& order, FaultLog& findings, GridRaces& launch);

 private:
  /// What is kept of an access beside the thread and the moment.
  struct Kind {
    const void* call_site = nullptr;
    GridOrder::WordSet acquired = GridOrder::none;
    Operation operation{};
    std::uint8_t bytes = 0;
    std::uint8_t mask = 0;
    std::uint8_t flags = 0;

    bool has(unsigned flag) const { return (flags & flag) != 0; }
    auto operator<=>(const Kind&) const = default;
    /// Without a look at each member.
    bool equals(const Kind& other) const {
      static_assert(std::has_unique_object_representations_v<Kind>);
      return std::memcmp(this, &other, sizeof(Kind)) == 0;
    }
  };
  // What GridRaces::Kind has by these names.
  static constexpr std::uint8_t knows_atomics = 1;
  static constexpr std::uint8_t follows_atomic = 2;
  static constexpr std::uint8_t unwritten = 4;
  static constexpr std::uint8_t is_volatile = 8;

  /// The lanes of a warp that made accesses of a kind, and when each did so the last time: a block's moments count from its
  /// beginning.
  struct Group {
    std::uint32_t kind;
    std::uint32_t moment;
    std::uint32_t lanes;
    std::uint32_t next;  ///< of the word, from 1
    std::uint16_t warp;
    bool is_only_one;  ///< of these lanes' accesses of the kind
  };

  /// What was done to a word: nothing, accesses of one kind by one thread, or what groups say.
  struct Cell {
    std::uint32_t moment;  ///< of the thread; with groups, whether there is more than loads
    std::uint32_t what;
  };

  struct Line {
    Buffer* buffer;
    std::size_t number;  ///< in the buffer
    std::array<Cell, words_in_line> cells;
  };

  struct Slot {
    const std::byte* begin = nullptr;  ///< of the line
    Line* line = nullptr;
  };

  struct OneAccess {
    Operation operation;
    std::uint8_t mask;
    unsigned thread;
    const void* call_site;
    std::size_t bytes;
  };

  struct Race {
    const std::byte* word;
    const Buffer* buffer;
    OneAccess one;
    OneAccess other;
    bool between_warps;
    bool after_warp_barrier;
  };

  unsigned number_of(const Kind& kind);
  Line& line_of(Buffer& buffer, std::size_t offset);
  Line& new_line(Buffer& buffer, std::size_t number);
  Slot& slot_of(const std::byte* begin);
  void check_cell(Cell& cell, const std::byte* word, const Buffer& buffer, unsigned kind, unsigned thread,
                  const HappensBefore& order);
  Kind check_groups(const Cell& cell, const std::byte* word, const Buffer& buffer, Kind self, unsigned thread,
                    const HappensBefore& order);
  void note(Cell& cell, unsigned kind, unsigned thread, std::uint32_t moment);
  void note_race(const Race& race);
  void report_races(std::size_t block, FaultLog& findings);
  GridRaces::WordVisit visit_of(const Cell& cell, Moment begin);
  unsigned visit_number_of(unsigned kind, unsigned thread, Moment moment);
  unsigned set_of(const GridRaces::Kinds& kinds);

  static constexpr std::uint32_t in_groups = 1U << 31;
  static constexpr std::size_t least_slots = 64;
  static constexpr std::size_t lines_in_slab = 128;

  FenceOrder& fences_;
  std::vector<Kind> kinds_;
  std::map<Kind, unsigned> numbers_;
  std::array<unsigned, 64> recent_{};  ///< kinds, from 1
  std::vector<std::unique_ptr<Line[]>> slabs_;
  std::size_t lines_ = 0;    ///< of the slabs that are in use
  std::vector<Slot> slots_;  ///< a hash table of them
  std::vector<Group> groups_;
  std::vector<Race> races_;  ///< one for each pair of places

  // While the block ends.
  GridRaces::Visits visits_;
  /// What other blocks may know of an access.
  struct Told {
    GridOrder::WordSet released = GridOrder::none;
    Untold untold = Untold::lacks_fence;  ///< where the block has no fences, this is all that is known

    auto operator<=>(const Told&) const = default;
  };
  std::map<std::pair<unsigned, Told>, unsigned> visit_numbers_;
  std::map<GridRaces::Kinds, unsigned> set_numbers_;
  std::vector<unsigned> set_of_kind_;  ///< alone, where there are no fences
  GridRaces::Kinds kinds_being_read_;
  GridRaces::Kinds kinds_of_word_;
  unsigned set_of_word_ = 0;                                    ///< the last one's
  std::vector<std::pair<std::pair<Moment, bool>, Told>> told_;  ///< what is known of each thread
};

}  // namespace __emulated
