#pragma once
#include <array>
#include <cstddef>
#include <span>

#include "emulated/findings/report.hpp"
#include "emulated/order/fence_order.hpp"
#include "emulated/order/global_races.hpp"
#include "emulated/order/happens_before.hpp"
#include "emulated/order/shared_races.hpp"
#include "emulated/run/observed.hpp"

namespace __emulated {

/// Knows what orders the threads of a block, and sees accesses that nothing orders.
class BlockOrder {
 public:
  /// \param memory  the block's; \param faults  what is seen is added to these. Both outlive this.
  BlockOrder(const SharedMemory& memory, FaultLog& faults, unsigned threads)
      : faults_{faults},
        order_{threads / warp_size},
        fences_{order_, threads},
        shared_races_{memory, order_, faults} {}

  void begin_block(std::size_t block, GridRaces& grid) {
    block_ = block;
    grid_ = &grid;
    order_.begin_block();
    fences_.begin_block(block, grid.order());
    shared_races_.begin_block(block);
  }

  /// Throws where the block makes more kinds of accesses than can be followed.
  void access(ObservedAccess seen) {
    if (seen.is_shared) {
      shared_races_.check(seen.access, seen.position, seen.thread);
    } else {
      global_races_.check(seen.access, *seen.buffer, seen.thread);
    }
  }
  void atomic(unsigned thread, const FenceOrder::Update& update) { fences_.atomic(thread, update); }
  void fence(unsigned thread, FenceScope scope) { fences_.fence(thread, scope); }
  void warp_sync(const WarpSync& met) {
    if (met.kind != EventKind::warp_barrier) return;
    order_.warp_barrier(met.warp, met.group, met.lanes_of_block);
    std::array<unsigned, warp_size> threads;
    std::size_t count = 0;
    for (const unsigned lane : lanes_of(met.group))
      threads[count++] = met.warp * warp_size + lane;
    fences_.meet(std::span{threads}.first(count));
  }
  /// Threads of several warps have met, those of each warp already.
  void group_sync(std::span<const unsigned> threads) {
    order_.group_barrier(threads);
    fences_.meet(threads);
  }
  void block_sync() {
    order_.block_barrier();
    fences_.block_barrier();
  }
  void end_block() {
    block_sync();
    global_races_.end_block(block_, faults_, *grid_);
  }

 private:
  FaultLog& faults_;
  std::size_t block_ = 0;
  GridRaces* grid_ = nullptr;
  HappensBefore order_;
  FenceOrder fences_;
  SharedRaces shared_races_;
  GlobalRaces global_races_{order_, fences_};
};

}  // namespace __emulated
