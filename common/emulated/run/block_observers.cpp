#include "emulated/run/block_observers.hpp"

#include "emulated/run/device.hpp"

namespace __emulated {

void BlockObservers::begin_block(Grid& grid, std::size_t block, unsigned threads) {
  is_on_ = grid.settings.instrumented;
  threads_ = threads;
  recorder_.reset();
  if (!is_on_) return;
  if (!order_) {
    const unsigned most_threads = properties().threads_per_block;
    order_.emplace(memory_, faults_, most_threads);
    counts_.emplace(most_threads);
  }
  order_->begin_block(block, grid.races);
  if (grid.trace != nullptr && grid.trace->block == block) recorder_.emplace(*grid.trace, threads);
  counts_->begin_block(threads, recorder_ ? &*recorder_ : nullptr);
}

Counters BlockObservers::end_block(bool is_complete) {
  if (!is_on_) return {.blocks = 1, .threads = threads_};
  const Counters counters = counts_->end_block(is_complete);
  order_->end_block();
  if (recorder_) recorder_->end_block(counters, memory_);
  recorder_.reset();
  return counters;
}

}  // namespace __emulated
