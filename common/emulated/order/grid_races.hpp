#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/access_kind.hpp"
#include "emulated/order/happens_before.hpp"
#include "emulated/order/numbering.hpp"
#include "emulated/order/ranked_faults.hpp"

namespace __emulated {

/// Words that are followed together, where neighbouring threads access neighbouring words.
inline constexpr std::size_t words_in_line = 32;
inline constexpr std::size_t line_bytes = words_in_line * word_bytes;

/// What a block did to global memory.
struct BlockSummary {
  /// What it did to a word, or to none where `set` is 0.
  struct Word {
    unsigned set = 0;  ///< of `sets`, from 1
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

  Numbering<KindSet> sets;
  std::vector<Line> lines;
  std::vector<Words> words;
};

/// What the blocks of a launch did to each word of global memory, for races between blocks and reads of what nobody has
/// written. A block adds what it did before another one can know of it, and before it knows more of others itself. Blocks that
/// know nothing of each other add in any order, and what is found does not depend on that.
class GridRaces {
 public:
  /// Of the phase.
  Releases& releases() { return releases_; }

  /// \param kinds  by the numbers in the summary; \param order  the block's: what its threads know now, they have known when
  /// they made these accesses; \param is_last  whether it has ended.
  void add(std::size_t block, const BlockSummary& summary, const std::vector<AccessKind>& kinds,
           const HappensBefore& order, bool is_last);

  /// The block has ended.
  void end_block(std::size_t block, const HappensBefore& order);

  /// All blocks have met: what comes is ordered behind everything so far.
  void begin_phase();

  /// What is wrong between blocks, in the order of words, once for each pair of access sites.
  std::vector<FaultRecord> faults() const;

  /// Tells of all that kernels have accessed. \param operation  a store, if it was not only loaded, or updated by atomics;
  /// \param mask  which bytes of each word, at most.
  using VisitUse =
      std::function<void(Buffer&, std::size_t offset, std::size_t bytes, Operation operation, unsigned mask)>;
  void for_each_use(const VisitUse& visit) const;

  /// The words that kernels have stored to count as written from now on, or as tainted.
  void mark_initialised() const;
  void taint_results() { is_tainted_ = true; }

 private:
  struct GridThread {
    std::size_t block;
    unsigned thread;

    auto operator<=>(const GridThread&) const = default;
  };

  /// Accesses of a kind by a thread. There may be one for each word and more.
  struct HistoryEntry {
    std::size_t block;
    std::uint32_t kind;
    Moment moment;
    std::uint32_t added;  ///< a number that grows with each addition
    std::uint16_t thread;
    std::uint16_t shift;  ///< of a line: one more thread every 2^shift words

    /// By which entries are in order.
    auto place() const { return std::tuple{kind, shift, block, thread}; }
  };
  using Entries = std::vector<HistoryEntry>;

  /// The access history of a word, or of all words of a line alike: nothing, something by one block, or entries. Or a line
  /// whose words each have a history.
  class PackedHistory {
   public:
    enum class Form : unsigned { empty, by_one_block, entries, words };

    PackedHistory() = default;
    PackedHistory(std::size_t set, std::size_t block, unsigned thread, unsigned shift)
        : bits_{std::uint64_t{1} | set << 2 | std::uint64_t{thread} << 18 | std::uint64_t{shift} << 28 |
                std::uint64_t{block} << 32} {}
    PackedHistory(Form form, std::size_t index) : bits_{static_cast<std::uint64_t>(form) | index << 2} {}
    static bool fits(std::size_t set, std::size_t block) { return set < 1U << 16 && block >> 32 == 0; }

    Form form() const { return static_cast<Form>(bits_ & 3); }
    std::size_t index() const { return bits_ >> 2; }
    unsigned set() const { return static_cast<unsigned>(bits_ >> 2 & 0xffff); }
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

  /// What a block adds to a word, or to words alike.
  struct Addition {
    const HappensBefore& order;
    const Buffer& buffer;
    const std::byte* word;  ///< the first,
    unsigned words;         ///< and their number
    unsigned set;
    GridThread first;
    unsigned shift;
  };

  /// An access that another one races with.
  struct Racing {
    AccessKind kind;
    GridThread by;
  };

  Lines& lines_of(Buffer& buffer);
  void note(PackedHistory& history, const Addition& added);
  void note_access(Entries& entries, const HistoryEntry& access) const;
  void spread(PackedHistory& line);
  template <typename Visit> void for_each_entry(const PackedHistory& history, const Visit& visit) const;
  template <typename Predicate> bool any_kind_in(unsigned set, const Predicate& is_such) const;
  template <typename Predicate>
  bool any_kind_in(const PackedHistory& history, const Predicate& is_such) const;
  bool is_written(const PackedHistory& history) const;
  bool may_conflict(const PackedHistory& history, unsigned set) const;
  bool may_find_written(const PackedHistory& history, unsigned set) const;
  void add(PackedHistory& history, Addition added);
  AccessKind check(const PackedHistory& history, const Addition& added, const KindAccess& access,
                   unsigned word);
  template <typename Predicate>
  std::uint32_t last_own(const PackedHistory& history, std::size_t block, const Predicate& is_such) const;
  void note_race(Fault fault, const Buffer& buffer, const std::byte* word, const Racing& first,
                 const Racing& second);
  template <typename Visit> void for_each_history(const Visit& visit) const;
  void for_each_use_of_phase(const VisitUse& visit) const;
  void check_reads(const Buffer& buffer, const std::byte* word, const PackedHistory& history,
                   unsigned word_in_line, RankedFaults& faults) const;
  void check_all_reads(RankedFaults& faults) const;

  std::mutex mutex_;
  Releases releases_;
  Numbering<AccessKind> kinds_;
  Numbering<KindSet> sets_;
  std::map<const std::byte*, Lines> lines_;  ///< by buffer
  std::vector<Entries> entries_;
  std::uint32_t additions_ = 0;
  std::set<std::size_t> running_;  ///< blocks that have added something before they have ended
  bool may_tell_later_ = false;    ///< whether a block has added something before it has ended
  std::vector<std::unique_ptr<Words>> words_;
  RankedFaults faults_;
  std::set<std::size_t> fence_in_vain_;  ///< blocks with fences, and no atomic that goes with one
  std::set<std::tuple<Buffer*, std::size_t, std::size_t, Operation>> uses_;  ///< in earlier phases
  bool is_tainted_ = false;
};

}  // namespace __emulated
