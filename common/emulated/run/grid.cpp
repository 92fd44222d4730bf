#include "emulated/run/grid.hpp"

#include <optional>
#include <utility>

#include "emulated/findings/report.hpp"
#include "emulated/memory/kernel_heap.hpp"

namespace __emulated {

Grid::Grid(const ExecutionConfiguration& configuration, const KernelCall& kernel,
           const GridSettings& settings, std::size_t number, unsigned host_threads,
           std::size_t most_shared_bytes, BlockTrace* trace)
    : context_{configuration,
               kernel,
               settings,
               number,
               most_shared_bytes,
               trace,
               global_memory().loaded_with(kernel.entry),
               BlockTurns{count(configuration.grid), host_threads}},
      failed_block_{count(configuration.grid)} {
  kernel_heap().reuse_if_empty();
}

Grid::~Grid() { context_.races.mark_initialised(); }

void Grid::work() {
  const Watchdog::TimeLimit limit = Block::limit_time(context_.settings.loop_limit);
  while (const std::optional<BlockTurns::Range> range = context_.turns.claim()) {
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
    context_.turns.complete(*range);
  }
}

/// A host thread may have no memory for the stacks of a block: that is the block's failure, and others need not wait.
BlockOutcome Grid::outcome_of(std::size_t block) {
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
  context_.turns.end_before(block);
}

bool Grid::has_failed_before(std::size_t block) const {
  const std::lock_guard lock{mutex_};
  return failed_block_ < block;
}

LaunchResult Grid::result() const {
  if (failure_.exception) std::rethrow_exception(failure_.exception);
  // What blocks have done to each other is only known if all have run.
  const std::vector<FaultRecord> faults = failure_.faults.empty() ? context_.races.faults() : failure_.faults;
  return {counters_, faults.empty() ? std::vector<Finding>{} : findings_from(faults, context_.kernel.entry)};
}

}  // namespace __emulated
