#include "emulated/run/loop_watch.hpp"

#include <algorithm>
#include <utility>

#include "emulated/run/splitmix64.hpp"

namespace __emulated {
namespace {

constexpr std::size_t least_turns = 4096;
constexpr std::size_t turns_of_a_thread = 32;

/// Of a thread in a watch: they have begun before it, or the loads before them have.
constexpr unsigned first_turns = 4;

constexpr std::size_t most_known = std::size_t{1} << 16;

std::uint64_t combined(std::uint64_t a, std::uint64_t b) { return mixed(a * 0x9e3779b97f4a7c15 + b); }

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

void keep_lowest(Accessor& lowest, unsigned thread, const void* call_site) {
  if (lowest.call_site == nullptr || thread <= lowest.thread) lowest = {thread, call_site};
}

}  // namespace

void LoopWatch::begin(unsigned threads) {
  if (turns_of_a_watch_ == 0) {
    turns_of_a_watch_ = std::max(least_turns, turns_of_a_thread * threads) / 2;
    forget();
  }
  threads_.assign(threads, {});
  turns_ = without_progress_ = identical_ = 0;
  at_access_ = at_barrier_ = reader_ = {};
}

void LoopWatch::forget() {
  turns_of_a_watch_ *= 2;
  known_.clear();
  left_out_ = 0;
}

void LoopWatch::access(unsigned thread, const Access& access, bool is_shared_by_blocks) {
  Thread& self = threads_[thread];
  keep_lowest(at_access_, thread, access.call_site);
  std::uint64_t event =
      combined(combined(number_of(access.call_site), number_of(access.address)), access.bytes);
  if (access.operation != Operation::store) {
    event = combined(event, hash_of({access.address, access.bytes}));
    if (is_shared_by_blocks && reader_.call_site == nullptr) reader_ = {thread, access.call_site};
  }
  self.all = combined(self.all, event);
  if (access.operation == Operation::load) {
    // Left aside until it is clear that the thread does not store to the word: the oldest counts.
    Load& oldest = self.loads[self.next_load++ % self.loads.size()];
    event = std::exchange(oldest, {access.address, event}).event;
  } else if (access.operation == Operation::store) {
    for (Load& load : self.loads)
      if (load.address == access.address) load.event = 0;
  }
  self.others = combined(self.others, event);
}

void LoopWatch::take(unsigned thread, const void* call_site, std::span<const std::byte> value) {
  Thread& self = threads_[thread];
  keep_lowest(at_barrier_, thread, call_site);
  const std::uint64_t event = combined(number_of(call_site), hash_of(value));
  self.all = combined(self.all, event);
  self.others = combined(self.others, event);
}

void LoopWatch::turn(unsigned thread, std::span<const std::byte> stack) {
  Thread& self = threads_[thread];
  const std::uint64_t others = combined(std::exchange(self.others, 0), thread);
  const std::uint64_t all = combined(combined(std::exchange(self.all, 0), hash_of(stack)), thread);
  ++turns_;
  ++without_progress_;
  ++identical_;
  if (++self.turns <= first_turns) return;
  if (is_new(others)) without_progress_ = 0;
  if (is_new(all)) identical_ = 0;
}

/// Of more than are kept, half as many are looked at.
bool LoopWatch::is_new(std::uint64_t turn) {
  while (known_.size() >= most_known) {
    left_out_ = 2 * left_out_ + 1;
    std::erase_if(known_, [this](std::uint64_t known) { return (known & left_out_) != 0; });
  }
  return (turn & left_out_) == 0 && known_.insert(turn).second;
}

}  // namespace __emulated
