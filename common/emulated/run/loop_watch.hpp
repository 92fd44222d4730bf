#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "emulated/memory/memory.hpp"

namespace __emulated {

/// Watches for a while what the threads of a block do. A thread makes progress if in a turn it makes other accesses than in any
/// earlier one, or finds other values, apart from those of words that it then stores to: a loop that only adds makes none.
class LoopWatch {
 public:
  /// Accesses of a turn while threads are watched: odd, so that most loops are looked at in all of their phases.
  static constexpr unsigned accesses_in_a_turn = 61;

  void begin_block() { turns_of_a_watch_ = 0; }
  /// Begins a watch, of at least so many threads.
  void begin(unsigned threads);
  /// The first half of the watch gets to know the turns of a loop. One that is new in the other half ends it.
  bool is_over() const {
    return turns_ >= turns_of_a_watch_ || (turns_ >= turns_of_a_watch_ / 2 && without_progress_ == 0);
  }

  /// The thread is about to make this access. \param is_shared_by_blocks  whether another block may write the word, too.
  void access(unsigned thread, const Access& access, bool is_shared_by_blocks);
  /// The thread has met others at a barrier or a shuffle, and takes this value from it.
  void take(unsigned thread, const void* call_site, std::span<const std::byte> value);
  /// The thread is about to go on. \param stack  all of it that is in use, saved registers among it.
  void turn(unsigned thread, std::span<const std::byte> stack);
  void thread_ends() { without_progress_ = identical_ = 0; }

  // Of the watch that is over:
  bool has_progress() const { return without_progress_ < turns_of_a_watch_ / 2; }
  /// Whether there was some before.
  bool had_progress() const { return without_progress_ < turns_; }
  /// Whether registers, local variables and all that was read came back, too: this never ends.
  bool is_identical() const { return identical_ >= turns_of_a_watch_ / 2; }
  /// The lowest thread that was at a barrier, or else that had an access.
  const Accessor& in_loop() const { return at_barrier_.call_site != nullptr ? at_barrier_ : at_access_; }
  /// The first thread that has read what another block may write.
  const Accessor* reader_of_other_blocks() const { return reader_.call_site != nullptr ? &reader_ : nullptr; }

  /// As there was progress, the next watch is longer: a loop's pass may be long.
  void forget();

 private:
  /// A load of a word that the thread may be about to store to.
  struct Load {
    const std::byte* address = nullptr;
    std::uint64_t event = 0;
  };
  struct Thread {
    std::uint64_t all = 0;     ///< what it has done in this turn, and found;
    std::uint64_t others = 0;  ///< the same without values of words that it has then stored to
    std::array<Load, 4> loads{};
    unsigned next_load = 0;
    unsigned turns = 0;
  };

  bool is_new(std::uint64_t turn);

  std::vector<Thread> threads_;
  std::unordered_set<std::uint64_t> known_;  ///< turns
  std::uint64_t left_out_ = 0;               ///< those with one of these bits are not
  std::size_t turns_ = 0;
  std::size_t turns_of_a_watch_ = 0;
  std::size_t without_progress_ = 0;  ///< turns since the last one with it,
  std::size_t identical_ = 0;         ///< and since the last one that was not as an earlier one
  Accessor at_access_, at_barrier_, reader_;
};

}  // namespace __emulated
