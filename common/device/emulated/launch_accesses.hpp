#pragma once
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "device/emulated/evidence.hpp"
#include "device/emulated/global_memory.hpp"
#include "device/emulated/operation.hpp"

namespace reduction::emulated {

/// What the blocks of a launch did to each word of global memory, for races between blocks and reads of what nobody
/// has written. Blocks add in any order, and nothing here depends on it: the launch is judged when it has ended.
class LaunchAccesses {
 public:
  /// What matters of an access to other blocks.
  struct Kind {
    Operation operation;
    bool released;  ///< FenceOrder says what these two are
    bool acquired;
    bool unwritten;  ///< a read before the block, or the host, has written the word
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
  std::vector<Evidence> evidence() const;

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
  static void judge_reads(const std::byte* address, const Word& word, CaseFile& findings);
  static void judge_races(const std::byte* address, const Word& word, CaseFile& findings);

  std::mutex mutex_;
  std::unordered_map<const std::byte*, Word> words_;
};

}  // namespace reduction::emulated
