#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/emulated/fence_order.hpp"
#include "device/emulated/happens_before.hpp"
#include "device/emulated/memory.hpp"
#include "device/emulated/report.hpp"

namespace reduction::emulated {

/// What the blocks of a launch did to each word of global memory, for races between blocks and reads of what nobody
/// has written. Blocks add in any order, and nothing here depends on it: the launch is judged when it has ended.
class GridRaces {
 public:
  /// What matters of an access to other blocks.
  struct Kind {
    Operation operation;
    bool released;  ///< FenceOrder says what these two are
    bool acquired;
    bool unwritten;     ///< a read before the block, or the host, has written the word
    std::uint8_t mask;  ///< the bytes of the word that it touches
    std::size_t bytes;
    const void* call_site;

    auto operator<=>(const Kind&) const = default;
  };

  /// An access of one block to one word, by the lowest of the threads that made it.
  struct Entry {
    const std::byte* word;
    const Buffer* buffer;
    Kind kind;
    unsigned thread;
  };

  void add(std::size_t block, const std::vector<Entry>& entries);

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

  /// The blocks that made accesses of a kind: enough to name the lowest ones, and to know of any in conflict.
  struct Visits {
    Kind kind;
    Visit lowest;
    Visit second;
    Visit highest;

    void add(const Visit& visit);
    const Visit* after(std::size_t block) const;
  };

  struct Word {
    const Buffer* buffer;
    std::vector<Visits> kinds;
  };

  static bool is_shared(const Word& word);
  static void judge_reads(const std::byte* address, const Word& word, FaultLog& findings);
  static void judge_races(const std::byte* address, const Word& word, FaultLog& findings);

  std::mutex mutex_;
  std::unordered_map<const std::byte*, Word> words_;
};

/// Remembers what the threads of a block did to each word of global memory that the launch may store to, and with
/// that sees races within the block. What other blocks need to know of it goes to GridRaces at its end.
class BlockRaces {
 public:
  /// \param fences  the block's, which outlive this.
  explicit BlockRaces(FenceOrder& fences) : fences_{fences} {}

  void check(const Access& access, Buffer& buffer, unsigned thread, std::size_t block,
             const HappensBefore& order, FaultLog& findings);

  /// Hands over what the block did: its races to `findings`, the rest to `launch`.
  void end_block(std::size_t block, FaultLog& findings, GridRaces& launch);

 private:
  /// The last of a thread's accesses of one kind to a word.
  struct Record {
    Operation operation;
    bool acquired;
    bool unwritten;
    std::uint8_t mask;  ///< the bytes of the word that it touches
    unsigned thread;
    const void* call_site;
    std::size_t bytes;
    Moment moment;
    FenceOrder::Point point;
  };

  struct Word {
    const Buffer* buffer;
    std::vector<Record> records;  ///< sorted
  };

  struct Race {
    const std::byte* word;
    const Buffer* buffer;
    Record one;
    Record other;
    bool between_warps;
    bool after_warp_barrier;
  };

  void check_word(const std::byte* address, const Buffer& buffer, Record self, const HappensBefore& order);
  void note_race(const Race& race);

  FenceOrder& fences_;
  std::unordered_map<const std::byte*, Word> words_;
  std::vector<Race> races_;  ///< one for each pair of places
};

}  // namespace reduction::emulated
