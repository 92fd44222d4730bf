#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "emulated/memory/memory.hpp"

namespace __emulated {

/// How much alike the passes of a loop are. Each is a weaker reason than the one before to say that it never ends.
enum class Passes {
  identical,  ///< registers, local variables and all that is read are the same: this never ends
  alike,      ///< the same places access the same words and find the same values there; a register may count
  adding,     ///< the same but for the values of words to which the thread itself adds
  different
};

/// A sequence that comes back to an element for ever: remembers one element, a later one each time that it has waited twice
/// as long for it in vain (Brent, 1980).
class Rounds {
 public:
  void step(std::uint64_t element) {
    ++steps_;
    if (element == remembered_ && is_begun_) {
      longest_ = std::max(longest_, std::exchange(steps_, 0));
      ++returns_;
    } else if (!is_begun_ || steps_ == patience_) {
      if (is_begun_) patience_ *= 2;
      is_begun_ = true;
      remembered_ = element;
      longest_ = steps_ = returns_ = 0;
    }
  }
  bool goes_round() const { return returns_ >= 2 && steps_ <= longest_; }

 private:
  std::uint64_t remembered_ = 0;
  std::size_t returns_ = 0;
  std::size_t steps_ = 0;     ///< since the element was remembered, or last came back
  std::size_t longest_ = 0;   ///< that it took to come back
  std::size_t patience_ = 1;  ///< so many steps until another one is remembered
  bool is_begun_ = false;
};

/// Watches for a while what the threads of a block do, to see whether they only repeat themselves. A thread is looked at
/// whenever it has its turn: what its stack holds, and what it has accessed since its last turn.
class LoopWatch {
 public:
  /// Accesses of a turn while threads are watched: odd, so that most loops are looked at in all of their phases.
  static constexpr unsigned accesses_in_a_turn = 61;

  void begin(unsigned threads) {
    threads_.assign(threads, {});
    reads_ = {};
  }

  /// The thread is about to make this access. \param is_shared_by_blocks  whether another block may write the word, too.
  void access(unsigned thread, const Access& access, bool is_shared_by_blocks);

  /// The thread meets others at a barrier or a shuffle, and takes this value from it.
  void meet(unsigned thread, const void* call_site, std::span<const std::byte> value);

  /// The thread is about to go on. \param stack  all of it that is in use, saved registers among it.
  void turn(unsigned thread, std::span<const std::byte> stack);

  /// What is true of all threads that have had a turn.
  Passes passes() const;

  /// The turns of the threads that have had one, on average.
  std::size_t turns() const;

  /// A thread that is in such a loop, and the site of its last access in it.
  Accessor thread_in_loop() const;

  /// The first thread that reads what another block may write.
  const Accessor* reader_of_other_blocks() const { return reads_.call_site != nullptr ? &reads_ : nullptr; }

 private:
  /// A load whose word the thread may be about to add to.
  struct Load {
    const std::byte* address = nullptr;
    std::uint64_t with_value = 0;
    std::uint64_t without = 0;
  };

  struct Thread {
    std::uint64_t all = 0;     ///< of what it has done in this turn, and found in memory;
    std::uint64_t others = 0;  ///< the same without values of words that it has then stored to
    std::array<Load, 4> loads{};
    unsigned next_load = 0;
    std::size_t turns = 0;
    const void* last_site = nullptr;
    Rounds identical, alike, adding;
  };

  std::vector<Thread> threads_;
  Accessor reads_;
};

}  // namespace __emulated
