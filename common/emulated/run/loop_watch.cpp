#include "emulated/run/loop_watch.hpp"

#include <bit>
#include <cstring>

#include "emulated/run/splitmix64.hpp"

namespace __emulated {
namespace {

std::uint64_t combined(std::uint64_t a, std::uint64_t b) { return mixed(a * 0x9e3779b97f4a7c15 + b); }

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

/// Sums do not depend on an order, so that a value that turns out to be no input can be taken out again.
void LoopWatch::access(unsigned thread, const Access& access, bool is_shared_by_blocks) {
  Thread& self = threads_[thread];
  self.last_site = access.call_site;
  const std::uint64_t without =
      combined(combined(number_of(access.call_site), number_of(access.address)), access.bytes);
  if (access.operation == Operation::store) {
    self.all += without;
    self.others += without;
    for (Load& load : self.loads) {
      if (load.address != access.address) continue;
      self.others += load.without - load.with_value;
      load.address = nullptr;
    }
    return;
  }
  if (is_shared_by_blocks && reads_.call_site == nullptr) reads_ = {thread, access.call_site};
  const std::uint64_t with_value = combined(without, hash_of({access.address, access.bytes}));
  self.all += with_value;
  self.others += with_value;
  if (access.operation == Operation::load) {
    self.loads[self.next_load++ % self.loads.size()] = {access.address, with_value, without};
  }
}

void LoopWatch::meet(unsigned thread, const void* call_site, std::span<const std::byte> value) {
  Thread& self = threads_[thread];
  const std::uint64_t event = combined(number_of(call_site), hash_of(value));
  self.all += event;
  self.others += event;
}

void LoopWatch::turn(unsigned thread, std::span<const std::byte> stack) {
  Thread& self = threads_[thread];
  // What the thread has just loaded it may add to in its next turn, to which it is counted then.
  std::uint64_t loaded = 0;
  for (const Load& load : self.loads)
    loaded += load.address != nullptr ? load.with_value : 0;
  self.others -= loaded;
  self.identical.step(combined(self.all, hash_of(stack)));
  self.alike.step(mixed(self.all));
  self.adding.step(mixed(self.others));
  ++self.turns;
  self.all = 0;
  self.others = loaded;
}

Passes LoopWatch::passes() const {
  Passes of_all = Passes::identical;
  bool any = false;
  for (const Thread& thread : threads_) {
    if (thread.turns == 0) continue;  // it waits
    any = true;
    of_all = std::max(of_all, thread.identical.goes_round() ? Passes::identical
                              : thread.alike.goes_round()   ? Passes::alike
                              : thread.adding.goes_round()  ? Passes::adding
                                                            : Passes::different);
  }
  return any ? of_all : Passes::different;
}

std::size_t LoopWatch::turns() const {
  std::size_t sum = 0;
  std::size_t threads = 0;
  for (const Thread& thread : threads_) {
    sum += thread.turns;
    threads += thread.turns != 0 ? 1 : 0;
  }
  return threads != 0 ? sum / threads : 0;
}

Accessor LoopWatch::thread_in_loop() const {
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (threads_[i].turns != 0) return {static_cast<unsigned>(i), threads_[i].last_site};
  }
  return {};
}

}  // namespace __emulated
