#pragma once
#include <cstdint>
#include <vector>

#include "device/emulated/lanes.hpp"

namespace reduction::emulated {

/// How the threads of a block order their accesses with those of other blocks. An access is *released* once a
/// __threadfence() and then an atomic operation on global memory follow it, and *acquired* if such an operation
/// came before it: in the same thread, or in any thread of the block with a __syncthreads() in between.
class FenceOrder {
 public:
  /// When in the block's life a thread did something. Times compare within a thread only.
  struct Point {
    std::uint64_t time = 0;
    std::uint64_t interval = 0;  ///< between block barriers
  };

  explicit FenceOrder(unsigned threads) : threads_(threads) {}

  void begin_block();
  void fence(unsigned thread);
  void atomic(unsigned thread);
  void block_barrier();

  /// The lanes `group` of a warp know of each other's atomics from now on.
  void warp_barrier(unsigned warp, unsigned group);

  Point now() { return {++time_, interval_}; }
  bool is_acquired(unsigned thread) const { return block_acquired_ || threads_[thread].acquired; }

  /// Whether what the thread did then has been released by now.
  bool is_released(unsigned thread, const Point& then) const {
    return then.interval < released_interval_ || then.time < threads_[thread].released;
  }

 private:
  struct Thread {
    Point fence;                 ///< its last one
    std::uint64_t carried = 0;   ///< its last fence that a block barrier followed
    std::uint64_t released = 0;  ///< what it did before is released
    bool acquired = false;
  };

  std::vector<Thread> threads_;
  std::uint64_t time_ = 0;
  std::uint64_t interval_ = 1;
  std::uint64_t fenced_interval_ = 0;    ///< the last one with a fence, of those that a barrier has ended
  std::uint64_t released_interval_ = 0;  ///< what was done in an earlier one is released
  bool block_acquired_ = false;
  bool has_fences_ = false;   ///< since the last block barrier
  bool has_atomics_ = false;  ///< in the block
  bool is_used_ = false;      ///< by any thread of the block
};

}  // namespace reduction::emulated
