#include "emulated/run/watchdog.hpp"

#include <sstream>
#include <utility>

#include "emulated/memory/peer_memory.hpp"
#include "emulated/run/block.hpp"

namespace __emulated {
namespace {

/// The block's threads are watched so often.
constexpr std::chrono::milliseconds between_watches{160};

/// "10 s", "0.2 s".
std::string seconds_text(std::chrono::nanoseconds time) {
  std::ostringstream text;
  text << std::chrono::duration<double>{time}.count() << " s";
  return std::move(text).str();
}

constexpr const char* repeats_itself = "repeats itself: its variables, and what it reads, stay the same";

std::string repeated_for(std::chrono::nanoseconds limit) {
  return "has repeated the same accesses for " + seconds_text(limit) + " of computing";
}

}  // namespace

void Watchdog::begin_block(const Grid& grid, std::size_t block, unsigned threads) {
  grid_ = &grid;
  block_ = block;
  threads_ = threads;
  accesses_left_ = 0;
  granted_ = 0;
  grant(scheduler_.accesses_in_a_turn());
  meetings_ = 0;
  is_watching_ = false;
  watch_.begin_block();
  watch_after_ = between_watches;
  last_progress_ = {};
  stuck_thread_ = ReadyThreads::capacity;
  ticks_without_progress_ = 0;
}

void Watchdog::begin_watch() {
  is_watching_ = true;
  watch_.begin(threads_);
  scheduler_.set_watched(true);
  watched_accesses_left_ = LoopWatch::accesses_in_a_turn;
  grant(1);
}

void Watchdog::end_turn(const Access& access, bool is_shared_by_blocks) {
  if (is_watching_) {
    grant(1);
    watch_.access(scheduler_.current(), access, is_shared_by_blocks);
    if (--watched_accesses_left_ != 0) return;
    watched_accesses_left_ = LoopWatch::accesses_in_a_turn;
    if (watch_.is_over()) judge();
  } else {
    grant(scheduler_.accesses_in_a_turn());
    if (work() >= watch_after_) begin_watch();
  }
  scheduler_.give_way();
}

void Watchdog::meet(unsigned threads) {
  meetings_ += threads;
  if (!is_watching_ && work() >= watch_after_) begin_watch();
}

void Watchdog::take_watched(unsigned thread, const void* call_site, std::span<const std::byte> value) {
  watch_.take(thread, call_site, value);
  if (watch_.is_over()) judge();
}

void Watchdog::thread_ends() {
  last_progress_ = work();
  watch_.thread_ends();
}

void Watchdog::judge() {
  is_watching_ = false;
  scheduler_.set_watched(false);
  grant(scheduler_.accesses_in_a_turn());
  watch_after_ = work() + between_watches;
  if (watch_.had_progress()) last_progress_ = work();
  if (watch_.has_progress()) {
    watch_after_ = 4 * work();  // so that watches cost little of a long kernel
    return watch_.forget();
  }
  const Accessor* const reader = watch_.reader_of_other_blocks();
  if (reader != nullptr && the_block_.wait_for_others(*reader, watch_.is_identical())) {
    last_progress_ = work();
    return begin_watch();  // to look at it afresh
  }
  const std::chrono::nanoseconds limit = grid_->settings.loop_limit;
  if (!watch_.is_identical() && work() - last_progress_ < limit) return;
  const auto [thread, call_site] = watch_.in_loop();
  blame_loop(thread, watch_.is_identical() ? repeats_itself : repeated_for(limit), call_site);
  scheduler_.stop();
}

void Watchdog::blame_loop(unsigned thread, std::string action, const void* call_site) {
  faults_.add({Fault::endless_loop,
               "",
               {{{thread}, block_, std::move(action), call_site}},
               "look at the condition of the loop around this line, and at what each pass changes of it",
               "endless_loop"});
}

/// One that no other block is left to end is an endless loop.
void Watchdog::blame_wait(const Accessor& waiting, bool is_for_ever) {
  const ResidentBlocks& blocks = grid_->blocks;
  if (!blocks.has_others()) {
    return blame_loop(waiting.thread, is_for_ever ? repeats_itself : repeated_for(grid_->settings.loop_limit),
                      waiting.call_site);
  }
  const std::string room = std::to_string(blocks.residence().most);
  const std::string all = std::to_string(blocks.residence().blocks);
  std::string help =
      "all blocks that have not ended wait: look at who is to end the wait, and at what that one waits for";
  if (blocks.is_full()) {
    help = "this GPU holds " + room + " blocks of this kernel at once, and the grid has " + all +
           ": no block may wait for one that begins only when others have ended. Launch no more than " +
           room + ", and let each do the work of several";
  }
  faults_.add({Fault::wait_for_block,
               "",
               {{{waiting.thread}, block_, "waits for what no other block does", waiting.call_site}},
               std::move(help)});
}

// ---- loops of which the device hears nothing ----

bool Watchdog::is_stuck(unsigned finished, const void* instruction) {
  // Those who ask their peers have a limit of their own.
  const unsigned thread = scheduler_.current();
  const std::array<std::size_t, 5> now{block_, accesses(), meetings_ + calls_of_peers(), thread, finished};
  if (now != progress_) {
    progress_ = now;
    ticks_without_progress_ = 0;
    stuck_thread_ = ReadyThreads::capacity;
    return false;
  }
  if (++ticks_without_progress_ < ticks_of_the_limit) return false;
  if (stuck_thread_ != thread) {
    // Better at one of its accesses to its local variables, if it makes any: their places are known.
    stuck_thread_ = thread;
    scheduler_.expose_own_stack();
    return false;
  }
  return contains(grid_->code, static_cast<const std::byte*>(instruction));
}

void Watchdog::stop_for_time(const void* call_site) {
  blame_loop(scheduler_.current(),
             "has computed for " + seconds_text(grid_->settings.loop_limit) + " without an access to memory",
             call_site);
  scheduler_.stop();
}

}  // namespace __emulated
