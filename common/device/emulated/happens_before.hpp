#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/emulated/lanes.hpp"

namespace reduction::emulated {

/// A moment in the life of a host thread's blocks. Later moments are greater, across blocks too.
using Moment = std::uint64_t;

/// Which accesses of a block's threads are ordered by barriers, whatever the order in which they happened to
/// run.
///
/// An access is stamped with the moment of its thread's last barrier. A block barrier, or a warp barrier of a
/// whole warp, orders everything before it; only barriers of a part of a warp need a vector clock.
class HappensBefore {
 public:
  explicit HappensBefore(unsigned warps) : warps_(warps) {}

  /// Nothing before a block is ordered after anything in it, nor unordered.
  void begin_block() { begin_ = barrier(); }

  void block_barrier() { barrier(); }

  /// A barrier among the lanes `group` of a warp that has `lanes`.
  void warp_barrier(unsigned warp, unsigned group, unsigned lanes);

  /// The moment with which to stamp an access of `thread` now.
  Moment now(unsigned thread) const {
    const Warp& warp = warps_[thread / warp_size];
    return warp.parts ? warp.parts->last_barrier[thread % warp_size] : last_warp_barrier(warp);
  }

  /// Whether an access that `earlier` made at `moment` is ordered before whatever `later` does now.
  bool ordered(Moment moment, unsigned earlier, unsigned later) const {
    if (earlier == later || moment < last_block_barrier_) return true;
    if (earlier / warp_size != later / warp_size) return false;
    const Warp& warp = warps_[later / warp_size];
    if (moment < warp.last_barrier) return true;
    return warp.parts && moment <= warp.parts->seen[later % warp_size][earlier % warp_size];
  }

  Moment block_begin() const { return begin_; }
  Moment last_block_barrier() const { return last_block_barrier_; }

  /// The last moment that orders all accesses of the thread's warp.
  Moment last_warp_barrier(unsigned thread) const { return last_warp_barrier(warps_[thread / warp_size]); }

  /// Whether lanes of the thread's warp have met without the others since then.
  bool in_parts(unsigned thread) const { return warps_[thread / warp_size].parts != nullptr; }

 private:
  /// What barriers of parts of a warp have ordered.
  struct Parts {
    std::array<Moment, warp_size> last_barrier;                   ///< of each lane
    std::array<std::array<Moment, warp_size>, warp_size> seen{};  ///< by a lane, of each lane
  };

  struct Warp {
    Moment last_barrier = 0;  ///< of all its lanes
    std::unique_ptr<Parts> parts;
  };

  Moment barrier();
  Moment last_warp_barrier(const Warp& warp) const {
    return warp.last_barrier > last_block_barrier_ ? warp.last_barrier : last_block_barrier_;
  }

  std::vector<Warp> warps_;
  Moment time_ = 0;
  Moment begin_ = 0;
  Moment last_block_barrier_ = 0;
};

}  // namespace reduction::emulated
