#pragma once
#include <cstddef>

#include "device/emulated/access_log.hpp"
#include "device/emulated/counters.hpp"
#include "device/emulated/evidence.hpp"
#include "device/emulated/fence_order.hpp"
#include "device/emulated/global_checker.hpp"
#include "device/emulated/global_memory.hpp"
#include "device/emulated/happens_before.hpp"
#include "device/emulated/operation.hpp"
#include "device/emulated/shared_checker.hpp"

namespace reduction::emulated {

class Grid;

/// Counts and checks what the threads of a block do to memory.
class Instrumentation {
 public:
  Instrumentation();

  void begin_block(Grid& grid, std::size_t block);
  void shared_access(const Access& access, std::size_t offset, unsigned thread, CaseFile& findings);
  void global_access(const Access& access, Buffer& buffer, unsigned thread, CaseFile& findings);

  /// A thread has run an atomic operation on a `__device__` variable.
  void variable_atomic(unsigned thread) { fences_.atomic(thread); }

  /// All threads of the block, which has `warps` warps, have met, or have left the kernel.
  void block_barrier(unsigned warps, Counters& counters);

  /// The lanes `group` of a warp that has `lanes` have met.
  void warp_barrier(unsigned warp, unsigned group, unsigned lanes);

  /// All lanes of a warp that are still in the kernel have met: accesses before and after are different
  /// instructions.
  void warp_converged(unsigned warp, Counters& counters) { log_.count_warp(warp, counters); }

  /// A thread has passed a __threadfence().
  void fence(unsigned thread) { fences_.fence(thread); }

  /// The block has ended: judges what only shows then.
  void end_block(CaseFile& findings);

  /// Forgets what a block that failed has left.
  void abandon_block() { log_.clear(); }

 private:
  Grid* grid_ = nullptr;
  std::size_t block_ = 0;
  HappensBefore order_;
  AccessLog log_;
  SharedChecker shared_checker_;
  FenceOrder fences_;
  GlobalChecker global_checker_;
};

}  // namespace reduction::emulated
