#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulated/order/happens_before.hpp"

namespace __emulated {

/// Bytes on their way to shared memory. They arrive when a thread has waited for them.
struct AsynchronousCopy {
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
  std::size_t source_bytes;  ///< the rest is zeros
  unsigned thread;           ///< that has asked for it, and where
  const void* call_site;
  bool is_bulk;  ///< of one thread for many
};

/// A barrier object in shared memory (PTX ISA, mbarrier). It goes from phase to phase, whenever so many threads have arrived
/// and so many bytes have come as are expected.
struct ArrivalBarrier {
  unsigned number = 0;  ///< of the block's, below 32: two may have the same
  std::uint64_t phase = 0;
  unsigned expected = 0;                     ///< arrivals in each phase
  unsigned missing = 0;                      ///< of these, in this one
  std::int64_t bytes = 0;                    ///< that are still to come; below 0: more came than are expected
  std::vector<AsynchronousCopy> of_phase{};  ///< copies that it waits for,
  std::vector<AsynchronousCopy> complete{};  ///< and those of earlier phases that no thread has waited for
  std::vector<unsigned> waiting{};           ///< threads
  HappensBefore::Knowledge told[2]{};        ///< by arrivals, of even phases and of odd ones
};

/// The copies of a block that have not arrived.
class AsynchronousCopies {
 public:
  explicit AsynchronousCopies(unsigned threads) : threads_(threads) {}
  void begin_block();

  bool are_under_way() const { return words_under_way_ != 0; }
  /// Whether one of them goes to one of these words of shared memory, or reads from these bytes.
  bool may_go_to(std::size_t offset, std::size_t bytes) const;
  bool may_come_from(const std::byte* address) const { return address >= least_ && address < greatest_; }

  void begin(const AsynchronousCopy& copy, std::size_t offset);
  /// Its bytes are there.
  void end(const AsynchronousCopy& copy, std::size_t offset);

  // Those of each thread, which it groups itself:
  void add(const AsynchronousCopy& copy) { threads_[copy.thread].open.push_back(copy); }
  void commit(unsigned thread) {
    threads_[thread].groups.push_back(std::exchange(threads_[thread].open, {}));
  }
  /// All but the last groups of a thread, and whatever it has asked for.
  std::vector<AsynchronousCopy> take_but(unsigned thread, std::size_t groups);
  std::vector<AsynchronousCopy> take_all(unsigned thread);

  /// One of which this is true, of those of threads.
  template <typename Predicate> const AsynchronousCopy* find(Predicate predicate) const {
    for (const OfThread& thread : threads_) {
      for (const auto& group : thread.groups) {
        if (const auto at = std::ranges::find_if(group, predicate); at != group.end()) return &*at;
      }
      if (const auto at = std::ranges::find_if(thread.open, predicate); at != thread.open.end()) return &*at;
    }
    return nullptr;
  }

 private:
  struct OfThread {
    std::vector<std::vector<AsynchronousCopy>> groups;  ///< that it has committed
    std::vector<AsynchronousCopy> open;
  };

  std::vector<OfThread> threads_;
  std::vector<bool> is_under_way_;  ///< each word of shared memory
  std::size_t words_under_way_ = 0;
  // All come from between these two:
  const std::byte* least_ = nullptr;
  const std::byte* greatest_ = nullptr;
};

}  // namespace __emulated
