#include "emulated/run/resident_blocks.hpp"

#include <time.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include "emulated/run/block.hpp"
#include "emulated/run/splitmix64.hpp"

namespace __emulated {
namespace {

/// How long a host thread that has nothing to do leaves words alone that others may store to.
constexpr std::chrono::milliseconds between_looks{1};

/// So many rounds at least before a wait is one for ever.
constexpr std::size_t least_rounds = 3;

/// In each of them threads look twice as often, up to that.
constexpr std::size_t most_doublings = 12;

/// States of waiting blocks that are remembered.
constexpr std::size_t most_known = std::size_t{1} << 20;

/// What all host threads have computed.
std::chrono::nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

}  // namespace

std::optional<ResidentBlocks::Step> ResidentBlocks::next(Host& host) {
  std::unique_lock lock{mutex_};
  idle_.insert(&host);
  if (std::exchange(host.is_running, false)) --running_;
  while (true) {
    if (const std::optional<Step> step = choice(host)) {
      idle_.erase(&host);
      ++running_;
      host.is_running = true;
      return step;
    }
    if (host.blocks.empty() && !is_anything_left(host)) {
      idle_.erase(&host);
      return std::nullopt;
    }
    host.seen_changes = changes_;
    const auto has_seen_all = [&](const Host* each) { return each->seen_changes == changes_; };
    if (running_ == 0 && std::ranges::all_of(idle_, has_seen_all)) {
      begin_round();
    } else {
      changed_.wait_for(lock, between_looks);
      wake_due();
    }
  }
}

// ---- which one ----

std::optional<ResidentBlocks::Step> ResidentBlocks::choice(Host& host) {
  const auto step = [&](What what, std::size_t number) {
    if (waiting_.contains(number)) wake(number);
    host.ready.erase(number);
    host.asking.erase(number);
    host.last = number;
    return Step{what, number, rounds_ == 0 ? 0 : 1U << std::min(rounds_, most_doublings)};
  };
  if (!host.blocks.empty()) {
    if (const std::size_t highest = host.blocks.rbegin()->first; highest >= end_ || drops_waiting_)
      return step(What::is_dropped, highest);
  }
  if (blamed_ && host.blocks.contains(blamed_->block)) {
    const Step blame = *std::exchange(blamed_, std::nullopt);
    return step(blame.what, blame.block);
  }
  const bool can_begin = is_anything_left(host) && resident_ < residence_.most;
  if (residence_.takes_turns) {
    if (can_begin && (resident_ < residence_.window || host.ready.empty())) return begun(host);
    if (host.ready.empty()) return std::nullopt;
    return step(What::goes_on, next_in_turn(host.ready, host.last));
  }
  if (!host.ready.empty()) return step(What::goes_on, *host.ready.begin());
  if (!host.asking.empty()) {
    const std::size_t lowest = *host.asking.begin();
    if (!can_take_turn(lowest)) return std::nullopt;
    holder_ = lowest;
    return step(What::goes_on, lowest);
  }
  if (can_begin) return begun(host);
  return std::nullopt;
}

std::size_t ResidentBlocks::next_in_turn(const std::set<std::size_t>& ready, std::size_t last) {
  switch (residence_.schedule.order) {
    case Order::ascending: break;
    case Order::descending: {
      const auto above = ready.lower_bound(last);
      return above != ready.begin() ? *std::prev(above) : *ready.rbegin();
    }
    case Order::random: {
      const std::size_t span = *ready.rbegin() - *ready.begin() + 1;
      return *ready.lower_bound(*ready.begin() + mixed(random_ += 0x9e3779b97f4a7c15) % span);
    }
  }
  return *ready.begin();
}

/// The next block, which the host thread begins.
ResidentBlocks::Step ResidentBlocks::begun(Host& host) {
  if (host.next >= std::min(host.end, end_)) {
    host.first = host.next = next_;
    host.end = next_ = std::min(next_ + residence_.at_a_time, residence_.blocks);
    taken_.insert(host.first);
  }
  ++resident_;
  host.last = host.next;
  return {What::begins, host.next++};
}

bool ResidentBlocks::halted(Host& host, std::size_t number, Block* block, Halt halt) {
  const std::lock_guard lock{mutex_};
  ++changes_;
  if (halt == Halt::ended || halt == Halt::waits) {
    if (holder_ == number) holder_.reset();
    woken_.erase(number);
  }
  host.blocks[number] = block;
  switch (halt) {
    case Halt::asks: host.asking.insert(number); break;
    case Halt::pauses: host.ready.insert(number); break;
    case Halt::meets: ++met_; [[fallthrough]];
    case Halt::waits: note_wait(host, number, *block); break;
    case Halt::ended:
      host.blocks.erase(number);
      --resident_;
      ++ended_;
      note_progress();
  }
  const bool is_all_done = host.next >= std::min(host.end, end_) && host.asking.empty();
  const bool passes_on = is_all_done && taken_.erase(host.first) != 0;
  wake_due();
  // Others take no notice of a block that has ended among those that its host thread has taken.
  if (passes_on || halt == Halt::waits || !woken_.empty() || !waiting_.empty()) changed_.notify_all();
  return met_ == residence_.blocks;
}

void ResidentBlocks::pass_barrier() {
  const std::lock_guard lock{mutex_};
  met_ = 0;
  note_progress();
  while (!waiting_.empty())
    wake(waiting_.begin()->first);
}

// ---- the turn ----

bool ResidentBlocks::can_take_turn(std::size_t number) const {
  const std::size_t first = number / residence_.at_a_time * residence_.at_a_time;
  return !holder_ && (taken_.empty() || *taken_.begin() >= first) &&
         (woken_.empty() || *woken_.begin() >= number);
}

bool ResidentBlocks::take_turn(std::size_t number) {
  if (residence_.takes_turns) return true;
  const std::lock_guard lock{mutex_};
  if (holder_ != number && !can_take_turn(number)) return false;
  holder_ = number;
  return true;
}

// ---- blocks that wait ----

void ResidentBlocks::note_wait(Host& host, std::size_t number, const Block& block) {
  Waiting& waiting = waiting_[number] = {&host, {}};
  for (const Polls::Sleeper& sleeper : block.sleepers())
    waiting.words.push_back({sleeper.address, sleeper.bytes, sleeper.value});
  for (const Word& word : waiting.words)
    words_[word].insert(number);
  if (rounds_ == 0) return;
  if (known_.insert(mixed(block.awaited() + number)).second) waits_since_ = cpu_time();
  if (known_.insert(mixed(block.state() + number)).second) is_round_new_ = true;
}

void ResidentBlocks::wake(std::size_t number) {
  const auto waiting = waiting_.extract(number);
  for (const Word& word : waiting.mapped().words) {
    const auto of_word = words_.find(word);
    if (of_word == words_.end()) continue;
    of_word->second.erase(number);
    if (of_word->second.empty()) words_.erase(of_word);
  }
  waiting.mapped().host->ready.insert(number);
  woken_.insert(number);
}

/// Those go on that wait for another value of a word, and would find one.
void ResidentBlocks::wake_due() {
  std::set<std::size_t> due;
  for (const auto& [word, blocks] : words_) {
    if (Polls::value_at(word.address, word.bytes) != word.value) due.insert(blocks.begin(), blocks.end());
  }
  if (due.empty()) return;
  std::ranges::for_each(due, [this](std::size_t number) { wake(number); });
  ++changes_;
  note_progress();
  changed_.notify_all();
}

void ResidentBlocks::note_progress() {
  rounds_ = 0;
  known_.clear();
}

/// No block can go on: all that have begun wait, and there is no room for more. They go on all the same, as what a thread waits
/// for may be its own patience. Once that brings nothing new, or takes too long, the lowest is to blame.
void ResidentBlocks::begin_round() {
  ++changes_;
  changed_.notify_all();
  if (has_failed_) {
    drops_waiting_ = true;
    return;
  }
  const bool is_for_ever = rounds_ > least_rounds && !is_round_new_;
  if (rounds_ == 0) waits_since_ = cpu_time();
  if (is_for_ever || cpu_time() - waits_since_ > residence_.patience) {
    blamed_ = {is_for_ever ? What::is_blamed : What::is_doubted, waiting_.begin()->first};
    return;
  }
  ++rounds_;
  met_ = 0;
  is_round_new_ = false;
  if (known_.size() > most_known) known_.clear();
  while (!waiting_.empty())
    wake(waiting_.begin()->first);
}

// ---- faults ----

void ResidentBlocks::fail(std::size_t number, bool ends_launch) {
  const std::lock_guard lock{mutex_};
  has_failed_ = true;
  if (ends_launch) end_ = std::min(end_, number);
}

void ResidentBlocks::stop() {
  const std::lock_guard lock{mutex_};
  has_failed_ = is_stopped_ = true;
}

bool ResidentBlocks::has_others() const {
  const std::lock_guard lock{mutex_};
  return ended_ + 1 < residence_.blocks;
}

bool ResidentBlocks::is_full() const {
  const std::lock_guard lock{mutex_};
  return resident_ == residence_.most && ended_ + resident_ < residence_.blocks;
}

}  // namespace __emulated
