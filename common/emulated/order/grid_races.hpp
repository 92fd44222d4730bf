#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/access_kind.hpp"
#include "emulated/order/fence_order.hpp"
#include "emulated/order/numbering.hpp"

namespace __emulated {

/// Words of global memory that are followed together, where neighbouring threads access neighbouring words.
inline constexpr std::size_t words_in_line = 32;
inline constexpr std::size_t line_bytes = words_in_line * word_bytes;

/// All that a block did to global memory.
struct BlockSummary {
  /// What it did to a word: the kinds of its accesses, each with the lowest of the threads that made them. Threads count from
  /// the first one's, so that words that different threads treat alike share one of these.
  using KindSet = std::vector<std::pair<unsigned, unsigned>>;

  /// What it did to a word, or to none where `kinds` is 0.
  struct Word {
    unsigned kinds = 0;  ///< 1 for the first set
    unsigned thread = 0;
  };
  using Words = std::array<Word, words_in_line>;

  /// What it did to the words of a line.
  struct Line {
    Buffer* buffer;
    std::size_t number;  ///< in the buffer
    Word first;          ///< its first word, if the others follow from it,
    unsigned shift;      ///< one more thread every 2^shift words,
    std::size_t words;   ///< or where in `words` they are, from 1
  };

  Numbering<GridAccessKind> kinds;
  Numbering<KindSet> sets;
  std::vector<Line> lines;
  std::vector<Words> words;

  void clear();
};

/// What the blocks of a launch did to each word of global memory, for races between blocks and reads of what nobody has
/// written. Blocks add in any order, and nothing here depends on it: the launch is checked when it has ended.
class GridRaces {
 public:
  GridOrder& order() { return order_; }

  void add(std::size_t block, const BlockSummary& summary);

  /// What is wrong between blocks, in the order of words, once for each pair of access sites.
  std::vector<FaultRecord> faults() const;

  /// Tells of all that kernels have accessed, of some buffers, in ascending order.
  using BufferPredicate = std::function<bool(const Buffer&)>;
  using VisitUse = std::function<void(Buffer&, std::size_t offset, std::size_t bytes, bool writes)>;
  void for_each_use(const BufferPredicate& is_wanted, const VisitUse& visit) const;

  /// The words that kernels have stored to count as written from now on, or as tainted.
  void mark_initialised() const;
  void taint_results() { is_tainted_ = true; }

 private:
  struct GridThread {
    std::size_t block;
    unsigned thread;

    auto operator<=>(const GridThread&) const = default;
  };

  /// The threads that made accesses of a kind to a word, blocks ascending: enough of them to name the lowest ones, and to know
  /// of any in conflict.
  struct KindAccessors {
    unsigned kind;
    std::vector<GridThread> threads;
  };
  using AccessHistory = std::vector<KindAccessors>;

  /// One of them, as it is kept: there may be one for each word and more.
  struct HistoryEntry {
    std::uint32_t next;  ///< of the word, or of the line's words
    std::uint32_t kind;
    std::uint64_t block : 48;
    std::uint64_t thread : 12;
    std::uint64_t shift : 4;  ///< of a line: one more thread every 2^shift words
  };
  static constexpr std::uint32_t no_entry = 0;

  /// The access history of a word, or of all words of a line alike: nothing, something by one block, or entries. Or a line
  /// whose words each have a history.
  class PackedHistory {
   public:
    enum class Form : unsigned { empty, by_one_block, entries, words };

    PackedHistory() = default;
    PackedHistory(std::size_t kinds, std::size_t block, unsigned thread, unsigned shift)
        : bits_{std::uint64_t{1} | kinds << 2 | std::uint64_t{thread} << 18 | std::uint64_t{shift} << 28 |
                std::uint64_t{block} << 32} {}
    PackedHistory(Form form, std::size_t index) : bits_{static_cast<std::uint64_t>(form) | index << 2} {}
    static bool fits(std::size_t kinds, std::size_t block) { return kinds < 1U << 16 && block >> 32 == 0; }

    Form form() const { return static_cast<Form>(bits_ & 3); }
    std::size_t index() const { return bits_ >> 2; }
    unsigned kinds() const { return static_cast<unsigned>(bits_ >> 2 & 0xffff); }
    unsigned thread() const { return static_cast<unsigned>(bits_ >> 18 & 0x3ff); }
    unsigned shift() const { return static_cast<unsigned>(bits_ >> 28 & 0xf); }
    std::size_t block() const { return bits_ >> 32; }

   private:
    std::uint64_t bits_ = 0;
  };
  using Form = PackedHistory::Form;
  using Words = std::array<PackedHistory, words_in_line>;

  /// Of a buffer.
  struct Lines {
    Buffer* buffer;
    Mapping mapping;    ///< a history for each line
    std::size_t begin;  ///< those that have been touched
    std::size_t end;

    PackedHistory& at(std::size_t line) const {
      return reinterpret_cast<PackedHistory*>(mapping.begin())[line];
    }
  };

  Lines& lines_of(Buffer& buffer);
  void note_block(PackedHistory& history, unsigned kinds, const GridThread& first, unsigned shift);
  void note_access(PackedHistory& history, unsigned kind, const GridThread& by, unsigned shift);
  void spread(PackedHistory& line);
  AccessHistory unpacked(const PackedHistory& history, unsigned word) const;
  template <typename Predicate>
  bool any_kind_in(const PackedHistory& history, const Predicate& is_such) const;
  bool may_be_wrong(const PackedHistory& history) const;
  bool is_written(const PackedHistory& history) const;
  bool ordered(const GridAccessKind& before, std::size_t lower, const GridAccessKind& after,
               std::size_t higher) const;
  void check_word(const Buffer& buffer, const std::byte* word, AccessHistory history, FaultLog& faults) const;
  void check_reads(const Buffer& buffer, const std::byte* word, const AccessHistory& history,
                   FaultLog& faults) const;
  void check_races(const Buffer& buffer, const std::byte* word, const AccessHistory& history,
                   FaultLog& faults) const;

  GridOrder order_;
  std::mutex mutex_;
  Numbering<GridAccessKind> kinds_;
  Numbering<BlockSummary::KindSet> sets_;
  std::map<const std::byte*, Lines> lines_;  ///< by buffer
  std::vector<HistoryEntry> entries_{1};     ///< from 1
  std::uint32_t free_entries_ = no_entry;
  std::vector<std::unique_ptr<Words>> words_;
  bool is_tainted_ = false;
};

}  // namespace __emulated
