#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include "emulated/findings/report.hpp"
#include "emulated/run/grid.hpp"
#include "emulated/run/loop_watch.hpp"
#include "emulated/run/scheduler.hpp"

namespace __emulated {

/// Finds that a block runs for ever: it watches the block's threads from time to time, and the clock of their host thread.
class Watchdog {
 public:
  /// \param scheduler  the block's own; \param faults  where it adds what it finds. All outlive this.
  Watchdog(Block& block, Scheduler& scheduler, FaultLog& faults)
      : the_block_{block}, scheduler_{scheduler}, faults_{faults} {}

  void begin_block(const Grid& grid, std::size_t block, unsigned threads);

  // ---- accesses ----

  /// The running thread has made an access: whether it has made all that it may before another has its turn.
  bool ends_turn() { return --accesses_left_ == 0; }
  /// If it has: goes on counting, and lets the others have their turn if it is time for that. Ends the block if that only
  /// repeats itself. \param is_shared_by_blocks  whether another block may write the word, too.
  void end_turn(const Access& access, bool is_shared_by_blocks);
  bool is_watching() const { return is_watching_; }
  /// All that the block has made so far.
  std::size_t accesses() const { return granted_ - accesses_left_; }

  // ---- meetings ----

  /// So many threads of the block have met.
  void meet(unsigned threads);
  /// What a thread takes from a barrier or a shuffle.
  void take(unsigned thread, const void* call_site, std::span<const std::byte> value) {
    if (is_watching_) take_watched(thread, call_site, value);
  }
  void thread_ends();
  void watch_turn(unsigned thread, std::span<const std::byte> stack) { watch_.turn(thread, stack); }

  /// The block waits for ever, this thread among others, or has done so for long.
  void blame_wait(const Accessor& waiting, bool is_for_ever);

  // ---- time ----

  /// So many ticks without progress are the limit.
  static constexpr int ticks_of_the_limit = 10;

  /// In a signal's handler: whether the running thread has had its time without any progress. It is ended only in code of
  /// the program: a library may hold a lock.
  bool is_stuck(unsigned finished, const void* instruction);
  /// Whether the running thread is to end at its next access.
  bool is_out_of_time() const { return stuck_thread_ == scheduler_.current(); }
  [[noreturn]] void stop_for_time(const void* call_site);

 private:
  void begin_watch();
  void take_watched(unsigned thread, const void* call_site, std::span<const std::byte> value);
  void judge();
  void grant(unsigned accesses) {
    granted_ = granted_ + accesses - accesses_left_;
    accesses_left_ = accesses;
  }
  /// Of the block so far, in what a host thread takes for it: the same on each machine.
  std::chrono::nanoseconds work() const {
    return std::chrono::nanoseconds{40} * accesses() + std::chrono::nanoseconds{80} * meetings_;
  }
  void blame_loop(unsigned thread, std::string action, const void* call_site);

  Block& the_block_;
  Scheduler& scheduler_;
  FaultLog& faults_;
  const Grid* grid_ = nullptr;
  std::size_t block_ = 0;
  unsigned threads_ = 0;

  unsigned accesses_left_ = 0;  ///< that the running thread may make before another has its turn
  std::size_t granted_ = 0;     ///< and that threads might have made by then, all together

  std::size_t meetings_ = 0;  ///< of each thread

  bool is_watching_ = false;
  LoopWatch watch_;
  unsigned watched_accesses_left_ = 0;
  // By the work done until then:
  std::chrono::nanoseconds watch_after_{};
  std::chrono::nanoseconds last_progress_{};

  /// What has happened so far: it stays the same while a thread does nothing but compute.
  std::array<std::size_t, 5> progress_{};
  int ticks_without_progress_ = 0;
  unsigned stuck_thread_ = ReadyThreads::capacity;  ///< ends at its next access
};

}  // namespace __emulated
