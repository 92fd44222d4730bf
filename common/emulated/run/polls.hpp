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

/// Knows which threads of a block only look again and again at words that others have to change: an atomic operation or a
/// volatile load, at the same place, that finds the same value many times in a row.
class Polls {
 public:
  explicit Polls(unsigned threads) : threads_(threads) {}

  void begin_block() {
    ++block_;
    looks_ = 0;
    sleepers_.clear();
  }

  /// The bytes themselves where they are 8 or fewer.
  static std::uint64_t value_at(const std::byte* address, std::size_t bytes);

  /// The thread is about to look at this word. Returns whether it and others of its block have lately done nothing else, and
  /// it has found nothing new. \param accesses  of the block so far.
  bool is_in_vain(unsigned thread, const Access& access, std::size_t accesses);

  /// The access of a look comes next.
  void look() { ++looks_; }

  /// A thread that waits until a word changes.
  struct Sleeper {
    unsigned thread;
    const void* call_site;
    const std::byte* address;
    std::size_t bytes;
    std::uint64_t value;

    bool is_due() const { return value_at(address, bytes) != value; }
  };

  /// The thread, whose look is in vain, waits.
  void sleep(unsigned thread);

  std::span<const Sleeper> sleepers() const { return sleepers_; }
  bool is_any_due() const;

  /// All of them wait. \param variables_of  a thread, as one number.
  template <typename VariablesOf> void note_variables(const VariablesOf& variables_of) {
    for (const Sleeper& sleeper : sleepers_) {
      Thread& self = threads_[sleeper.thread];
      const std::uint64_t before = std::exchange(self.variables, variables_of(sleeper.thread));
      self.looks_on = self.variables != before;
    }
  }
  std::uint64_t variables(unsigned thread) const { return threads_[thread].variables; }

  /// Has the threads go on whose words have changed. \param looks  if not 0, all of them: so often those look before they wait
  /// again whose variables change, as by counting; \param make_ready  is called for each.
  template <typename MakeReady> void wake(unsigned looks, const MakeReady& make_ready) {
    std::erase_if(sleepers_, [&](const Sleeper& sleeper) {
      if (looks == 0 && !sleeper.is_due()) return false;
      Thread& self = threads_[sleeper.thread];
      self.in_vain = 0;
      self.patience = self.looks_on ? std::max(looks, 1U) : 1;
      make_ready(sleeper.thread);
      return true;
    });
  }

 private:
  /// A value that a thread has found. Words are followed from their second time on: by then the address is known to be good.
  struct Look {
    const void* call_site = nullptr;
    const std::byte* address = nullptr;
    std::uint64_t value = 0;
    std::uint32_t bytes = 0;
    bool has_value = false;
  };
  /// Looks in a row that find nothing new, before a thread waits.
  static constexpr unsigned patience_at_first = 16;

  struct Thread {
    std::size_t block = 0;  ///< what is here is of this one
    std::array<Look, 4> looks{};
    unsigned next = 0;
    unsigned last = 0;
    unsigned in_vain = 0;  ///< looks in a row,
    unsigned patience = patience_at_first;
    std::size_t other_accesses = 0;  ///< and so many accesses of the block that were none
    std::uint64_t variables = 0;     ///< when it waited last,
    bool looks_on = true;            ///< and whether these were others than before
  };

  std::vector<Thread> threads_;
  std::size_t block_ = 0;
  std::size_t looks_ = 0;  ///< of the block
  std::vector<Sleeper> sleepers_;
};

}  // namespace __emulated
