#pragma once
#include <cstddef>
#include <vector>

#include "emulated/count/counters.hpp"
#include "emulated/count/warp_instructions.hpp"
#include "emulated/run/observed.hpp"

namespace __emulated {

/// Counts what the threads of a block do.
class BlockCounts {
 public:
  explicit BlockCounts(unsigned threads) : instructions_{threads}, count_after_(threads / warp_size) {}

  /// \param recorder  is told of each request, or nullptr.
  void begin_block(unsigned threads, BlockRecorder* recorder);

  /// A load or store.
  void access(ObservedAccess seen) {
    instructions_.add(seen.thread, {seen.position, seen.access, seen.chain, seen.kind()});
  }
  void atomic() { ++counters_.atomics; }
  void warp_sync(const WarpSync& met);
  void block_sync();

  /// The thread has made many accesses since its warp last met. Counts those that cannot become part of another
  /// instruction. \param going_on  the lanes of its warp that may access memory before it meets.
  void count_early(unsigned thread, unsigned going_on);
  /// Whether it would do anything.
  bool may_count_early(unsigned thread) const;

  /// \param is_complete  whether all threads have left the kernel.
  Counters end_block(bool is_complete);

 private:
  void count_warp(unsigned warp);
  void count_warps();

  Counters counters_;
  WarpInstructionLog instructions_;
  BlockRecorder* recorder_ = nullptr;
  unsigned warps_ = 0;
  std::vector<std::size_t>
      count_after_;  ///< so many accesses of a thread of each warp, they are counted early
};

}  // namespace __emulated
