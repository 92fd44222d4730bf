#pragma once
#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace __emulated {

/// Hands the blocks of a launch out to host threads in ascending order, some at a time, and knows which of them are
/// running.
class BlockTurns {
 public:
  struct Range {
    std::size_t begin, end;
  };

  BlockTurns(std::size_t blocks, unsigned host_threads)
      // Few enough hand-outs to cost nothing, enough of them to keep every host thread busy to the end.
      : at_a_time_{std::clamp<std::size_t>(blocks / (std::size_t{host_threads} * 16), 1, 64)}, end_{blocks} {}

  /// The next blocks to run; none where there are no more.
  std::optional<Range> claim() {
    const std::lock_guard lock{mutex_};
    if (next_ >= end_) return std::nullopt;
    running_.insert(next_);
    const std::size_t begin = std::exchange(next_, next_ + at_a_time_);
    return Range{begin, std::min(begin + at_a_time_, end_)};
  }

  void complete(const Range& range) {
    {
      const std::lock_guard lock{mutex_};
      running_.erase(range.begin);
    }
    completed_.notify_all();
  }

  /// Hands out no block from this one on.
  void end_before(std::size_t block) {
    const std::lock_guard lock{mutex_};
    end_ = std::min(end_, block);
  }

  /// Returns once every block below `block`, which is running, has ended: whether the block is still wanted, as none of them
  /// has failed.
  bool wait_for(std::size_t block) {
    std::unique_lock lock{mutex_};
    completed_.wait(lock, [&] { return *running_.begin() == block / at_a_time_ * at_a_time_; });
    return block < end_;
  }

 private:
  const std::size_t at_a_time_;
  std::mutex mutex_;
  std::condition_variable completed_;
  std::size_t next_ = 0;
  std::size_t end_;
  std::set<std::size_t> running_;  ///< the first blocks of the ranges that are
};

/// The turn of one block, which it takes once.
class Turn {
 public:
  void begin_block(BlockTurns& turns, std::size_t block) {
    turns_ = &turns;
    block_ = block;
    is_taken_ = false;
  }

  bool is_taken() const { return is_taken_; }

  /// Returns once every lower block has ended: whether this one is still wanted.
  bool take() {
    is_taken_ = is_taken_ || turns_->wait_for(block_);
    return is_taken_;
  }

 private:
  BlockTurns* turns_ = nullptr;
  std::size_t block_ = 0;
  bool is_taken_ = false;
};

}  // namespace __emulated
