#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "device/emulated/schedule.hpp"

namespace reduction::emulated {

/// The threads of a block that can run on, and whose turn it is. Each is in it at most once.
class ReadyThreads {
 public:
  static constexpr unsigned capacity = 1024;

  void begin_block(const Schedule& schedule, std::size_t block) {
    first_ = last_ = 0;
    order_ = schedule.order;
    random_ = schedule.seed ^ (block * 0xbf58476d1ce4e5b9);
  }

  bool empty() const { return first_ == last_; }

  /// Adds a thread that has just become ready. Of several, the lowest has to come first.
  void push(unsigned thread) { at(last_++) = static_cast<std::uint16_t>(thread); }

  /// Adds a thread that is to have its turn after all others.
  void push_behind(unsigned thread) {
    if (order_ == Order::descending) {
      at(--first_) = static_cast<std::uint16_t>(thread);
    } else {
      push(thread);
    }
  }

  unsigned pop() {
    if (order_ == Order::descending) return at(--last_);
    if (order_ == Order::random) std::swap(at(first_), at(first_ + random() % (last_ - first_)));
    return at(first_++);
  }

  /// Accesses that a thread may make before it loses its turn.
  unsigned accesses_in_a_turn() {
    // A thread that spins on a word another one has to write must not spin forever.
    return order_ == Order::random ? 1 + random() % 8 : 4096;
  }

 private:
  std::uint16_t& at(unsigned position) { return threads_[position % capacity]; }

  /// The splitmix64 generator of Steele, Lea and Flood (2014), its high half.
  unsigned random() {
    std::uint64_t z = random_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<unsigned>((z ^ (z >> 31)) >> 32);
  }

  std::array<std::uint16_t, capacity> threads_{};
  unsigned first_ = 0;
  unsigned last_ = 0;
  Order order_ = Order::ascending;
  std::uint64_t random_ = 0;
};

}  // namespace reduction::emulated
