#include "emulated/count/block_counts.hpp"

#include "emulated/trace/block_recorder.hpp"

namespace __emulated {
namespace {

/// Accesses of a thread, since its warp last met, from which on they are counted early.
constexpr std::size_t least_pending = std::size_t{1} << 12;

/// And so many at most are kept until it is known which of them are one instruction.
constexpr std::size_t most_pending = std::size_t{1} << 16;

}  // namespace

void BlockCounts::begin_block(unsigned threads, BlockRecorder* recorder) {
  counters_ = {.blocks = 1, .threads = threads};
  recorder_ = recorder;
  warps_ = (threads + warp_size - 1) / warp_size;
  count_after_.assign(count_after_.size(), least_pending);
}

void BlockCounts::warp_sync(const WarpSync& met) {
  if (met.kind == EventKind::shuffle) counters_.shuffles += shuffles_for(met.bytes);
  if (met.kind == EventKind::warp_barrier) ++counters_.warp_barriers;
  // Accesses before and after are different instructions.
  if (met.is_of_whole_warp()) count_warp(met.warp);
}

void BlockCounts::block_sync() {
  ++counters_.block_barriers;
  count_warps();
}

void BlockCounts::count_warp(unsigned warp) {
  instructions_.count_warp(warp, counters_, recorder_);
  if (recorder_ != nullptr) recorder_->end_warp_interval(warp);
}

void BlockCounts::count_warps() {
  for (unsigned warp = 0; warp < warps_; ++warp)
    count_warp(warp);
}

bool BlockCounts::may_count_early(unsigned thread) const {
  return instructions_.pending(thread) >= count_after_[thread / warp_size] &&
         (recorder_ == nullptr || recorder_->is_full());
}

void BlockCounts::count_early(unsigned thread, unsigned going_on) {
  const unsigned warp = thread / warp_size;
  instructions_.count_complete(warp, going_on, counters_, recorder_);
  if (instructions_.pending(thread) > most_pending)
    instructions_.count_complete(warp, 0, counters_, recorder_);
  count_after_[warp] = 2 * instructions_.pending(thread) + least_pending;
}

Counters BlockCounts::end_block(bool is_complete) {
  if (!is_complete && recorder_ == nullptr) instructions_.clear();
  count_warps();
  return counters_;
}

}  // namespace __emulated
