#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "emulated/findings/report.hpp"
#include "emulated/order/clock.hpp"
#include "emulated/run/lanes.hpp"

namespace __emulated {

/// How far a fence reaches.
enum class FenceScope { block, device };

/// What blocks have released on words of global memory. Only a block whose turn it is to run atomics uses it.
using Releases = std::unordered_map<const std::byte*, GridClock>;

/// Which accesses are ordered, whatever the order in which they happened to run: a vector clock for each thread (Flanagan and
/// Freund, FastTrack, 2009), kept for blocks and warps as long as their threads have the same.
///
/// An access is stamped with the moment of its thread's last barrier or fence. A block barrier, or a warp barrier of a whole
/// warp, orders everything before it; barriers of other groups have clocks of their threads.
///
/// A fence and then an atomic operation *release* on the operation's word what the thread knew of at the fence; a later atomic
/// operation on the same word *acquires* it. A barrier makes the fences of each thread that it joins those of all. Between
/// blocks the fence has to be one of the device, and the word in global memory; and it takes another fence behind the atomic
/// before plain loads may see what it has told.
class HappensBefore {
 public:
  /// \param before_learning  is called before threads of the block come to know more of other blocks.
  HappensBefore(unsigned threads, std::function<void()> before_learning);

  void begin_block(std::size_t block, unsigned threads, Releases& releases);
  void block_barrier();
  /// A barrier among the lanes `group` of a warp that has `lanes`.
  void warp_barrier(unsigned warp, unsigned group, unsigned lanes);
  /// A barrier among these threads.
  void group_barrier(std::span<const unsigned> threads);
  /// All threads of all blocks.
  void grid_barrier();
  void fence(unsigned thread, FenceScope scope);

  /// What a thread knows of its block and of others.
  struct Knowledge {
    SharedClock own;  ///< nullptr: nothing
    GridClock others;

    void join(const Knowledge& other) {
      merge(own, other.own);
      others.join(other.others);
    }
  };
  /// Behind its threads a block has a warp of copiers, whose accesses are ordered like a thread's: a barrier object's hands
  /// on what has been copied for it.
  unsigned first_copier() const { return static_cast<unsigned>(threads_.size()) - warp_size; }

  /// A thread tells what it did so far to those who pass() a barrier object, and they learn it.
  void arrive(unsigned thread, Knowledge& told);
  void pass(unsigned thread, const Knowledge& told);

  /// An atomic operation, just when it happens.
  struct Update {
    const std::byte* address;
    std::size_t bytes;
    bool is_global;
    bool stores;  ///< unlike a compare-and-swap that finds another value
  };
  void atomic(unsigned thread, const Update& update);

  /// Tells what threads do from now on from what they did before.
  void begin_slice() { slice_ = ++time_; }
  Moment slice() const { return slice_; }

  // ---- within the block ----

  /// The moment with which to stamp an access of `thread` now.
  Moment now(unsigned thread) const {
    const Warp& warp = warps_[thread / warp_size];
    return std::max(slice_, warp.lanes ? (*warp.lanes)[thread % warp_size] : last_warp_barrier(warp));
  }

  /// Whether an access that `earlier` made at `moment` is ordered before whatever `later` does now.
  bool ordered(Moment moment, unsigned earlier, unsigned later) const {
    if (earlier == later || moment < last_block_barrier_) return true;
    if (earlier / warp_size == later / warp_size && moment < warps_[later / warp_size].last_barrier)
      return true;
    return has_acquired_ && threads_[later].acquired && threads_[later].acquired->knows(earlier, moment);
  }

  Moment last_block_barrier() const { return last_block_barrier_; }

  /// Whether lanes of the thread's warp have passed a warp barrier since the last one of the block.
  bool follows_warp_barrier(unsigned thread) const {
    return warps_[thread / warp_size].last_meeting > last_block_barrier_;
  }

  // ---- between blocks ----

  /// What a thread knows of other blocks.
  struct Others {
    GridClock told;    ///< by atomics,
    GridClock fenced;  ///< and as much of it as there has been a fence behind

    bool operator==(const Others&) const = default;
  };
  const Others& others(unsigned thread) const { return threads_[thread].others; }
  /// Whether any thread of the block knows anything of others, or has told them.
  bool has_met_others() const { return knows_others_ || has_released_; }
  /// Whether it has fences of the device, and no atomic that goes with one.
  bool fences_in_vain() const { return has_device_fences_ && !has_released_; }

  /// Whether the thread has, or shares, a fence of the device that an atomic of it would release.
  bool has_device_fence(unsigned thread) const { return is_used_ && to_release(threads_[thread]).own; }
  /// Whether the thread knows of any atomic of its block on global memory.
  bool knows_atomics(unsigned thread) const { return is_used_ && threads_[thread].knows_atomics; }

 private:
  struct Warp {
    Moment last_barrier = 0;  ///< of all its lanes,
    Moment last_meeting = 0;  ///< or of some
    /// Of each lane's last barrier or fence; only where they differ.
    std::unique_ptr<std::array<Moment, warp_size>> lanes;
  };

  struct Thread {
    SharedClock acquired;  ///< of the own block, since its last barrier
    Others others;
    // What fences cover:
    Knowledge at_block_fence;   ///< the last one since a block barrier; one of the device is one, too
    Knowledge at_device_fence;  ///< the same
    bool knows_atomics = false;
  };

  void end_interval();
  void begin_moment(unsigned thread);
  Moment last_warp_barrier(const Warp& warp) const {
    return std::max(warp.last_barrier, last_block_barrier_);
  }
  Clock knowledge(unsigned thread) const;
  void acquire(Thread& thread, const SharedClock& clock);
  void learn(Thread& thread, const Others& more);
  void know(Thread& thread, const Others& all);
  void share_others(std::span<const unsigned> threads);
  void share(std::span<const unsigned> threads);
  const Knowledge& to_release(const Thread& thread) const {
    return thread.at_device_fence.own ? thread.at_device_fence : carried_;
  }

  std::vector<Warp> warps_;
  std::vector<Thread> threads_;
  std::vector<unsigned> all_threads_;  ///< of the block
  std::function<void()> before_learning_;
  std::size_t block_ = 0;
  Releases* releases_ = nullptr;
  std::unordered_map<const std::byte*, Knowledge> released_in_block_;  ///< since its last barrier
  Knowledge carried_;  ///< what all threads' fences of the device have covered before the last block barrier

  Moment time_ = 0;
  Moment slice_ = 0;
  Moment last_block_barrier_ = 0;
  // Whether threads have, since the last block barrier:
  bool has_acquired_ = false;
  bool has_fences_ = false;
  bool has_learned_ = false;
  // And in the block so far:
  bool knows_others_ = false;
  bool has_released_ = false;
  bool has_device_fences_ = false;
  bool is_used_ = false;  ///< by more than barriers
};

}  // namespace __emulated
