#pragma once
#include <cstddef>
#include <span>

#include "emulated/findings/report.hpp"
#include "emulated/order/block_races.hpp"
#include "emulated/order/grid_races.hpp"
#include "emulated/order/happens_before.hpp"
#include "emulated/run/observed.hpp"

namespace __emulated {

/// Knows what orders the threads of a block, and sees accesses that nothing orders.
class BlockOrder {
 public:
  /// \param memory  the block's; \param faults  what is seen is added to these. Both outlive this.
  BlockOrder(const SharedMemory& memory, FaultLog& faults, unsigned threads)
      : order_{threads, [this] { publish(); }}, races_{memory, order_, faults} {}
  BlockOrder(const BlockOrder&) = delete;
  BlockOrder& operator=(const BlockOrder&) = delete;

  void begin_block(std::size_t block, unsigned threads, GridRaces& grid) {
    block_ = block;
    grid_ = &grid;
    order_.begin_block(block, threads, grid.releases());
    races_.begin_block(block);
    has_run_atomics_ = false;
  }

  /// Throws where the block makes more kinds of accesses than can be followed.
  void access(ObservedAccess seen) {
    if (seen.is_shared) {
      races_.check<true>(seen.access, nullptr, seen.thread);
    } else {
      races_.check<false>(seen.access, seen.buffer, seen.thread);
    }
  }
  void atomic(unsigned thread, const HappensBefore::Update& update) {
    has_run_atomics_ = has_run_atomics_ || update.is_global;
    order_.atomic(thread, update);
  }
  void fence(unsigned thread, FenceScope scope) { order_.fence(thread, scope); }
  void arrive(unsigned thread, HappensBefore::Knowledge& told) { order_.arrive(thread, told); }
  void pass(unsigned thread, const HappensBefore::Knowledge& told) { order_.pass(thread, told); }
  void warp_sync(const WarpSync& met) {
    if (met.kind == EventKind::warp_barrier) order_.warp_barrier(met.warp, met.group, met.lanes_of_block);
  }
  void block_sync() { order_.block_barrier(); }
  /// Threads of several warps have met, those of each warp already.
  void group_sync(std::span<const unsigned> threads) { order_.group_barrier(threads); }
  /// All threads of the grid have; then GridRaces::begin_phase() is called once.
  void grid_sync() {
    publish();
    order_.grid_barrier();
  }

  /// Other blocks may run atomics before this one goes on.
  void give_way() {
    if (has_run_atomics_) publish();
  }
  void end_block() {
    races_.end_block(*grid_);
    grid_->end_block(block_, order_);
  }

 private:
  /// Tells other blocks of what this one did so far.
  void publish() {
    races_.publish(*grid_, false);
    order_.begin_slice();
    has_run_atomics_ = false;
  }

  std::size_t block_ = 0;
  GridRaces* grid_ = nullptr;
  HappensBefore order_;
  BlockRaces races_;
  bool has_run_atomics_ = false;  ///< since it has last told others
};

}  // namespace __emulated
