#pragma once
#include <array>
#include <cstdint>

namespace reduction::emulated {

/// The threads of a block that can run on, first come, first served. Each is in it at most once.
class ReadyQueue {
 public:
  static constexpr unsigned capacity = 1024;

  bool empty() const { return first_ == last_; }
  void clear() { first_ = last_ = 0; }
  void push(unsigned thread) { threads_[last_++ % capacity] = static_cast<std::uint16_t>(thread); }
  unsigned pop() { return threads_[first_++ % capacity]; }

 private:
  std::array<std::uint16_t, capacity> threads_{};
  unsigned first_ = 0;
  unsigned last_ = 0;
};

}  // namespace reduction::emulated
