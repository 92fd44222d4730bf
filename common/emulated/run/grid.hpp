#pragma once
#include <cstddef>
#include <exception>
#include <mutex>
#include <vector>

#include "emulated/count/counters.hpp"
#include "emulated/findings/report.hpp"
#include "emulated/order/global_races.hpp"
#include "emulated/run/block.hpp"
#include "emulated/run/block_turns.hpp"
#include "emulated/run/launch_config.hpp"
#include "emulated/run/scheduler.hpp"

namespace __emulated {

/// One launch: host threads run its blocks, and it gathers what they did.
class Grid {
 public:
  Grid(const LaunchConfig& config, const KernelCall& kernel, const LaunchOptions& options);
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  ~Grid();

  /// Runs blocks on the calling host thread as long as there are any.
  void work();

  /// Returns what all blocks did. Throws what the lowest block that failed has thrown, or a KernelFinding for its faults.
  Counters result() const;

 private:
  BlockOutcome outcome_of(std::size_t block) const;
  void fail(std::size_t block, BlockOutcome outcome);
  bool has_failed_before(std::size_t block) const;

  const LaunchConfig config_;
  const KernelCall kernel_;
  BlockTurns turns_;
  GridRaces races_;
  const LaunchContext context_;

  mutable std::mutex mutex_;
  std::size_t failed_block_;
  BlockOutcome failure_;
  Counters counters_;
};

}  // namespace __emulated
