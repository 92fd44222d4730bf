#include "emulated/run/grid.hpp"

#include <optional>
#include <utility>

#include "emulated/memory/kernel_heap.hpp"

namespace __emulated {

Grid::Grid(const LaunchConfig& config, const KernelCall& kernel, const LaunchOptions& options)
    : config_{config},
      kernel_{kernel},
      turns_{count(config.grid), options.host_threads},
      context_{options, config_, kernel_, global_memory().loaded_with(kernel.entry), turns_, races_},
      failed_block_{count(config.grid)} {
  kernel_heap().reuse_if_empty();
}

Grid::~Grid() { races_.mark_initialised(); }

void Grid::work() {
  const Block::TimeLimit limit{context_.loop_limit};
  while (const std::optional<BlockTurns::Range> range = turns_.claim()) {
    Counters counters;
    for (std::size_t block = range->begin; block < range->end && !has_failed_before(block); ++block) {
      BlockOutcome outcome = outcome_of(block);
      counters += outcome.counters;
      if (outcome.exception || !outcome.faults.empty()) fail(block, std::move(outcome));
    }
    {
      const std::lock_guard lock{mutex_};
      counters_ += counters;
    }
    turns_.complete(*range);
  }
}

/// A host thread may have no memory for the stacks of a block: that is the block's failure, and others need not wait.
BlockOutcome Grid::outcome_of(std::size_t block) const {
  try {
    return Block::local().run(context_, block);
  } catch (...) {
    BlockOutcome outcome;
    outcome.exception = std::current_exception();
    return outcome;
  }
}

/// Blocks below a failed one still run, so that the lowest failure is found whatever the order.
void Grid::fail(std::size_t block, BlockOutcome outcome) {
  const std::lock_guard lock{mutex_};
  if (block >= failed_block_) return;
  failed_block_ = block;
  failure_ = std::move(outcome);
  turns_.end_before(block);
}

bool Grid::has_failed_before(std::size_t block) const {
  const std::lock_guard lock{mutex_};
  return failed_block_ < block;
}

Counters Grid::result() const {
  if (failure_.exception) std::rethrow_exception(failure_.exception);
  // What blocks have done to each other is only known if all have run.
  const std::vector<FaultRecord> faults = failure_.faults.empty() ? races_.faults() : failure_.faults;
  if (!faults.empty()) throw KernelFinding{findings_from(faults, kernel_.entry)};
  return counters_;
}

}  // namespace __emulated
