#pragma once
#include <cstddef>
#include <mutex>

#include "emulated/run/block.hpp"
#include "emulated/run/grid_context.hpp"
#include "emulated/run/launch.hpp"

namespace __emulated {

/// One launch: host threads run its blocks, and it gathers what they did.
class Grid {
 public:
  /// \param number  of the launch; \param most_shared_bytes  of a block; \param trace  of one of its blocks, or nullptr.
  Grid(const ExecutionConfiguration& configuration, const KernelCall& kernel, const GridSettings& settings,
       std::size_t number, unsigned host_threads, std::size_t most_shared_bytes, BlockTrace* trace);
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  ~Grid();

  /// Runs blocks on the calling host thread as long as there are any.
  void work();

  /// Returns what all blocks did, with the faults of the lowest block that failed. Throws what that one has thrown.
  LaunchResult result() const;

 private:
  BlockOutcome outcome_of(std::size_t block);
  void fail(std::size_t block, BlockOutcome outcome);
  bool has_failed_before(std::size_t block) const;

  GridContext context_;

  mutable std::mutex mutex_;
  std::size_t failed_block_;
  BlockOutcome failure_;
  Counters counters_;
};

}  // namespace __emulated
