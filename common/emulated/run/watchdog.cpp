#include "emulated/run/watchdog.hpp"

#include <time.h>

#include <bit>
#include <sstream>
#include <utility>

#include "emulated/memory/peer_memory.hpp"

namespace __emulated {
namespace {

/// Barriers of a block, or barriers and shuffles of a warp, after which its threads are watched for the first time.
constexpr unsigned first_watched_meetings = 1U << 18;

/// Each watch is one of so many parts of the meetings so far.
constexpr unsigned meetings_per_watch = 256;

/// So many watches of meetings that have found passes alike are taken for a loop that never ends: the last one, after 2^21
/// meetings.
constexpr unsigned most_alike_watches = 4;

/// A loop that adds to a word of memory may be meant to do so often: it takes so many times the limit.
constexpr int longer_for_adding = 6;

/// What the calling host thread has computed.
std::chrono::nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

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
  since_meeting_ = {};
  is_watching_ = false;
  alike_watches_ = 0;
  stuck_thread_ = ReadyThreads::capacity;
  ticks_without_progress_ = 0;
}

/// \param meetings  the count that has led to it, or nullptr if accesses have.
void Watchdog::begin_watch(const unsigned* meetings) {
  is_watching_ = true;
  watched_meetings_ = meetings;
  watch_.begin(threads_);
  scheduler_.set_watched(true);
  watched_accesses_left_ = LoopWatch::accesses_in_a_turn;
  grant(1);
}

void Watchdog::end_watch() {
  is_watching_ = false;
  scheduler_.set_watched(false);
  grant(scheduler_.accesses_in_a_turn());
}

void Watchdog::end_turn(const Access& access, bool is_shared_by_blocks) {
  if (is_watching_) {
    ++since_meeting_.accesses;
    grant(1);
    watch_.access(scheduler_.current(), access, is_shared_by_blocks);
    if (--watched_accesses_left_ != 0) return;
    watched_accesses_left_ = LoopWatch::accesses_in_a_turn;
    if (watched_meetings_ == nullptr && watch_.turns() >= since_meeting_.watched_turns) judge_accesses();
  } else {
    grant(scheduler_.accesses_in_a_turn());
    since_meeting_.accesses += accesses_left_;
    if (since_meeting_.accesses >= since_meeting_.watch_after) begin_watch(nullptr);
  }
  scheduler_.give_way();
}

/// The threads have been watched for some time in which none has met another.
void Watchdog::judge_accesses() {
  const Passes passes = watch_.passes();
  end_watch();
  if (passes == Passes::different) {
    since_meeting_.alike_since.reset();
    since_meeting_.watch_after = 2 * since_meeting_.accesses;
    since_meeting_.watched_turns *= 2;
    return;
  }
  since_meeting_.watch_after = since_meeting_.accesses + first_watch;
  if (may_change_by_other_blocks(watch_.reader_of_other_blocks(), passes == Passes::identical)) return;
  const auto [thread, call_site] = watch_.thread_in_loop();
  if (passes == Passes::identical) {
    end_in_a_loop(thread, repeats_itself, call_site);
  }
  const std::chrono::nanoseconds now = cpu_time();
  if (!since_meeting_.alike_since) since_meeting_.alike_since = now;
  const std::chrono::nanoseconds limit =
      grid_->settings.loop_limit * (passes == Passes::adding ? longer_for_adding : 1);
  if (now - *since_meeting_.alike_since < limit) return;
  end_in_a_loop(thread, repeated_for(limit), call_site);
}

/// Whether other blocks may have changed what the threads read: it is looked at afresh.
bool Watchdog::may_change_by_other_blocks(const Accessor* reader, bool is_identical) {
  if (reader == nullptr || !client_.wait_for_others(*reader, is_identical)) return false;
  since_meeting_.alike_since.reset();
  return true;
}

void Watchdog::meet(unsigned& meetings, const void* call_site) {
  since_meeting_ = {};
  if (is_watching_ && watched_meetings_ == nullptr) end_watch();
  ++meetings;
  if (meetings < first_watched_meetings - first_watched_meetings / meetings_per_watch) return;
  const unsigned end = std::bit_ceil(meetings);
  if (meetings == end - end / meetings_per_watch && !is_watching_) begin_watch(&meetings);
  if (meetings == end && is_watching_ && watched_meetings_ == &meetings) judge_meetings(meetings, call_site);
}

void Watchdog::thread_ends() {
  since_meeting_.alike_since.reset();
  if (is_watching_ && watched_meetings_ == nullptr) end_watch();
}

/// The threads have been watched for some of so many meetings.
void Watchdog::judge_meetings(unsigned meetings, const void* call_site) {
  const Passes passes = watch_.passes();
  end_watch();
  alike_watches_ = passes == Passes::different ? 0 : alike_watches_ + 1;
  if (passes != Passes::identical && alike_watches_ < most_alike_watches) return;
  if (may_change_by_other_blocks(watch_.reader_of_other_blocks(), passes == Passes::identical)) return;
  end_in_a_loop(scheduler_.current(),
                "is still running after 2^" + std::to_string(std::countr_zero(meetings)) + " barriers",
                call_site);
}

void Watchdog::end_in_a_loop(unsigned thread, std::string action, const void* call_site) {
  blame_loop(thread, std::move(action), call_site);
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

bool Watchdog::is_stuck(std::size_t meetings, unsigned finished, const void* instruction) {
  // Those who ask their peers have a limit of their own.
  const unsigned thread = scheduler_.current();
  const std::array<std::size_t, 6> now{
      block_, since_meeting_.accesses, accesses_left_, meetings + calls_of_peers(), thread, finished};
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
  end_in_a_loop(
      scheduler_.current(),
      "has computed for " + seconds_text(grid_->settings.loop_limit) + " without an access to memory",
      call_site);
}

}  // namespace __emulated
