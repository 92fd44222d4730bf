#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emulated/run/lanes.hpp"

namespace __emulated {

/// A moment in the life of a host thread's blocks. Later moments are greater, across blocks too.
using Moment = std::uint64_t;

/// Which accesses of a block somebody knows of: each thread's before a moment.
class Clock {
 public:
  bool knows(unsigned thread, Moment moment) const {
    if (moment < all_before_) return true;
    const Row* const row = find(thread / warp_size);
    return row != nullptr && moment < row->before[thread % warp_size];
  }

  /// Whether it knows all that the other one knows.
  bool includes(const Clock& other) const;

  /// Knows what the other one knows, too.
  void join(const Clock& other);

  void learn_all_before(Moment moment) { all_before_ = all_before_ > moment ? all_before_ : moment; }
  void learn(unsigned thread, Moment before);

 private:
  struct Row {
    unsigned warp;
    std::array<Moment, warp_size> before;  ///< of each lane
  };

  const Row* find(unsigned warp) const;
  Row& row_of(unsigned warp);

  Moment all_before_ = 0;
  std::vector<Row> rows_;  ///< of the warps of which more is known
};

/// A clock that several threads have come to know; nullptr where nothing is known.
using SharedClock = std::shared_ptr<const Clock>;

/// Adds what the other one knows.
void merge(SharedClock& clock, const SharedClock& other);

/// Which accesses of a block's threads are ordered, whatever the order in which they happened to run.
///
/// An access is stamped with the moment of its thread's last barrier or fence. A block barrier, or a warp barrier of a whole
/// warp, orders everything before it; only barriers of a part of a warp, and fences with atomics (FenceOrder), need vector
/// clocks.
class HappensBefore {
 public:
  explicit HappensBefore(unsigned warps) : warps_(warps), acquired_(warps * warp_size) {}

  /// Nothing before a block is ordered after anything in it, nor unordered.
  void begin_block() { begin_ = barrier(); }

  void block_barrier() { barrier(); }

  /// A barrier among the lanes `group` of a warp that has `lanes`.
  void warp_barrier(unsigned warp, unsigned group, unsigned lanes);

  /// A barrier among threads of several warps, those of each of which have just met.
  void group_barrier(std::span<const unsigned> threads);

  /// Tells what the thread does from now on from what it did before.
  void fence(unsigned thread);

  /// What the thread knows of.
  Clock knowledge(unsigned thread) const;

  /// The thread knows of all this from now on.
  void acquire(unsigned thread, const SharedClock& clock);

  /// The moment with which to stamp an access of `thread` now.
  Moment now(unsigned thread) const {
    const Warp& warp = warps_[thread / warp_size];
    return warp.parts ? warp.parts->moment[thread % warp_size] : last_warp_barrier(warp);
  }

  /// Whether an access that `earlier` made at `moment` is ordered before whatever `later` does now.
  bool ordered(Moment moment, unsigned earlier, unsigned later) const {
    if (earlier == later || moment < last_block_barrier_) return true;
    if (earlier / warp_size == later / warp_size) {
      const Warp& warp = warps_[later / warp_size];
      if (moment < warp.last_barrier) return true;
      if (warp.parts && moment <= warp.parts->seen[later % warp_size][earlier % warp_size]) return true;
    }
    return has_acquired_ && acquired_[later] && acquired_[later]->knows(earlier, moment);
  }

  Moment block_begin() const { return begin_; }
  Moment last_block_barrier() const { return last_block_barrier_; }

  /// Whether threads of the block are ordered by more than barriers, since the last one of the block.
  bool has_acquired() const { return has_acquired_; }

  /// The last moment that orders all accesses of the thread's warp.
  Moment last_warp_barrier(unsigned thread) const { return last_warp_barrier(warps_[thread / warp_size]); }

  /// Whether lanes of the thread's warp have moments of their own since then.
  bool in_parts(unsigned thread) const { return warps_[thread / warp_size].parts != nullptr; }

  /// Whether lanes of the thread's warp, if not all, have passed a warp barrier since the last one of the block.
  bool follows_warp_barrier(unsigned thread) const {
    const Warp& warp = warps_[thread / warp_size];
    return (warp.parts != nullptr && warp.parts->has_met) || warp.last_barrier > last_block_barrier_;
  }

 private:
  /// What barriers of parts of a warp have ordered, and fences of lanes.
  struct Parts {
    std::array<Moment, warp_size> moment;                         ///< of each lane's last barrier or fence
    std::array<std::array<Moment, warp_size>, warp_size> seen{};  ///< by a lane, of each lane
    bool has_met = false;
  };

  struct Warp {
    Moment last_barrier = 0;  ///< of all its lanes
    std::unique_ptr<Parts> parts;
  };

  Moment barrier();
  Parts& parts_of(Warp& warp);
  Moment last_warp_barrier(const Warp& warp) const {
    return warp.last_barrier > last_block_barrier_ ? warp.last_barrier : last_block_barrier_;
  }

  std::vector<Warp> warps_;
  std::vector<SharedClock> acquired_;  ///< by each thread, since the last block barrier
  bool has_acquired_ = false;
  Moment time_ = 0;
  Moment begin_ = 0;
  Moment last_block_barrier_ = 0;
};

}  // namespace __emulated
