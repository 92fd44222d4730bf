#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "emulated/run/block.hpp"

/// \file
/// How the threads of a block wait for each other: Block's barriers and shuffles.

namespace __emulated {
namespace {

/// The lane whose value a shuffle gives to `lane`: CUDA C++ Programming Guide, "Warp Shuffle Functions".
unsigned source_lane(Shuffle kind, unsigned lane, int operand, unsigned width) {
  const unsigned distance = static_cast<unsigned>(operand);
  const unsigned first = lane & ~(width - 1);
  const unsigned last = first + width - 1;
  switch (kind) {
    case Shuffle::indexed: return first + (distance & (width - 1));
    case Shuffle::up: return lane - first >= distance ? lane - distance : lane;
    case Shuffle::down: return last - lane >= distance ? lane + distance : lane;
    case Shuffle::exclusive_or: return (lane ^ distance) <= last ? lane ^ distance : lane;
  }
  return lane;
}

}  // namespace

/// The last thread of the block has come to the barrier.
void Block::release_block(const void* call_site) {
  require_stack();
  arrived_ = 0;
  released_true_ = std::exchange(arrived_true_, 0);
  observers_.block_sync(call_site);
  for (Warp& warp : warps_)
    warp.stopped = 0;
  scheduler_.make_all_ready(size_);
  watchdog_.meet(releases_, threads_[scheduler_.current()].where);
}

void Block::warp_barrier(unsigned mask, SourceLine where, const void* call_site) {
  const AtWork at_work{*this};
  wait_for_lanes(State::at_warp_barrier, mask, where, call_site);
  watchdog_.take(scheduler_.current(), call_site, {});
}

void Block::shuffle(Shuffle kind, unsigned mask, int operand, int width, void* value, std::size_t bytes,
                    SourceLine where, const void* call_site) {
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  Waiting& self = waiting_[thread];
  threads_[thread].where = where;
  if (width < 1 || width > static_cast<int>(warp_size) || (width & (width - 1)) != 0) {
    faults_.add({Fault::invalid_width,
                 "",
                 {action_at_barrier(thread, "shuffles in a width of " + std::to_string(width))}});
    scheduler_.stop();
  }
  self.shuffle = kind;
  LaneExchange& exchange = exchanges_[thread];
  exchange.source_lane = source_lane(kind, thread % warp_size, operand, static_cast<unsigned>(width));
  self.bytes = bytes;
  std::memcpy(exchange.brought.data(), value, bytes);
  wait_for_lanes(State::at_shuffle, mask, where, call_site);
  std::memcpy(value, exchange.received.data(), bytes);
  watchdog_.take(thread, call_site, std::span{exchange.received}.first(bytes));
}

std::uint64_t Block::vote(VoteRule rule, unsigned mask, std::uint64_t value, SourceLine where,
                          const void* call_site) {
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  LaneExchange& exchange = exchanges_[thread];
  waiting_[thread].rule = rule;
  waiting_[thread].bytes = sizeof(value);
  std::memcpy(exchange.brought.data(), &value, sizeof(value));
  wait_for_lanes(State::at_vote, mask, where, call_site);
  std::memcpy(&value, exchange.received.data(), sizeof(value));
  watchdog_.take(thread, call_site, std::as_bytes(std::span{&value, 1}));
  return value;
}

unsigned Block::active_lanes(const void* call_site) {
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  observers_.call(thread);
  threads_[thread].state = State::at_active_lanes;
  threads_[thread].call_site = call_site;
  warp_of(thread).asking |= bit_of(thread % warp_size);
  stop_lane(thread);
  release_if_stopped(thread);
  scheduler_.suspend();
  return waiting_[thread].mask;
}

/// No lane of the member's warp can go on: those at one call of __activemask() do, together. They are active there.
void Block::release_active_lanes(unsigned member) {
  Warp& warp = warp_of(member);
  const unsigned asking = std::exchange(warp.asking, 0);
  for (const unsigned lane : lanes_of(asking)) {
    if ((warp.stopped & bit_of(lane)) == 0) continue;  // with an earlier one
    const void* const call_site = threads_[in_warp_of(member, lane)].call_site;
    unsigned together = 0;
    for (const unsigned other : lanes_of(asking)) {
      if (threads_[in_warp_of(member, other)].call_site == call_site) together |= bit_of(other);
    }
    for (const unsigned other : lanes_of(together)) {
      waiting_[in_warp_of(member, other)].mask = together;
      make_ready(in_warp_of(member, other));
    }
  }
}

void Block::make_ready(unsigned thread) {
  warp_of(thread).stopped &= ~bit_of(thread % warp_size);
  scheduler_.make_ready(thread);
}

void Block::wait_for_lanes(State state, unsigned mask, SourceLine where, const void* call_site) {
  const unsigned thread = scheduler_.current();
  observers_.call(thread);
  Thread& self = threads_[thread];
  Warp& warp = warp_of(thread);
  const unsigned own = bit_of(thread % warp_size);
  waiting_[thread].mask = mask & warp.lanes;
  self.where = where;
  self.call_site = call_site;
  require_stack();
  if ((mask & own) == 0) {
    faults_.add({Fault::invalid_mask, "", {action_at_barrier(thread, "is not in the mask that it passes")}});
    scheduler_.stop();
  }
  self.state = state;
  warp.waiting |= own;
  stop_lane(thread);
  release_complete_group(thread);
  release_if_stopped(thread);
  scheduler_.suspend();
}

/// Makes the lanes that wait for each other with `member` ready if the last of them has arrived.
void Block::release_complete_group(unsigned member) {
  const State state = threads_[member].state;
  const Waiting& first = waiting_[member];
  Warp& warp = warp_of(member);
  const unsigned group = first.mask & ~warp.finished;
  if ((warp.waiting & group) != group) return;
  for (const unsigned lane : lanes_of(group)) {
    const Waiting& other = waiting_[in_warp_of(member, lane)];
    if (threads_[in_warp_of(member, lane)].state != state || other.mask != first.mask) return;
    if (!is_same_call(state, first, other)) return;
  }
  warp.waiting &= ~group;
  ++meetings_;
  WarpSync met{EventKind::warp_barrier,   member / warp_size, group, first.mask, warp.lanes, 0,
               threads_[member].call_site};
  if (state == State::at_shuffle) {
    hand_over_values(member, group);
    met.kind = EventKind::shuffle;
    met.bytes = first.bytes;
  } else if (state == State::at_vote) {
    hand_over_votes(member, group);
    met.kind = EventKind::vote;
    met.bytes = first.bytes;
  }
  observers_.warp_sync(met, std::span{exchanges_}.subspan(met.warp * warp_size, warp_size));
  for (const unsigned lane : lanes_of(group))
    make_ready(in_warp_of(member, lane));
  watchdog_.meet(warp.releases, threads_[scheduler_.current()].where);
}

/// Whether two lanes that wait in one way have called the same function.
bool Block::is_same_call(State state, const Waiting& one, const Waiting& other) {
  if (state == State::at_shuffle) return one.shuffle == other.shuffle;
  return state != State::at_vote || one.rule == other.rule;
}

/// Gives each lane of a complete shuffle its value, now: a lane that runs on may bring the next one.
void Block::hand_over_values(unsigned member, unsigned group) {
  for (const unsigned lane : lanes_of(group)) {
    const unsigned receiver = in_warp_of(member, lane);
    const unsigned source = exchanges_[receiver].source_lane;
    exchanges_[receiver].received = exchanges_[in_warp_of(member, source)].brought;
    if ((group & bit_of(source)) != 0) continue;
    const Warp& warp = warp_of(member);
    FaultRecord record{
        Fault::inactive_lane,
        "",
        {action_at_barrier(receiver, "shuffles from the inactive lane " + std::to_string(source))}};
    record.missing_lanes = {source};
    record.absence = (warp.lanes & bit_of(source)) == 0      ? Absence::beyond_the_block
                     : (warp.finished & bit_of(source)) != 0 ? Absence::has_left
                                                             : Absence::not_in_the_mask;
    faults_.add(std::move(record));
    scheduler_.stop();
  }
}

void Block::hand_over_votes(unsigned member, unsigned group) {
  Votes votes{group, {}};
  for (const unsigned lane : lanes_of(group))
    std::memcpy(&votes.values[lane], exchanges_[in_warp_of(member, lane)].brought.data(),
                sizeof(std::uint64_t));
  for (const unsigned lane : lanes_of(group)) {
    const unsigned thread = in_warp_of(member, lane);
    const std::uint64_t result = waiting_[thread].rule(votes, lane);
    std::memcpy(exchanges_[thread].received.data(), &result, sizeof(result));
  }
}

/// What is to be done where threads meet takes some stack.
void Block::require_stack() {
  if (!scheduler_.is_stack_short(__builtin_frame_address(0))) return;
  faults_.add(
      {Fault::stack_overflow, "", {action_at_barrier(scheduler_.current(), "has used up its stack")}});
  scheduler_.stop();
}

ThreadAction Block::action_at_barrier(unsigned thread, std::string action) const {
  return {{thread}, number_, std::move(action), nullptr, threads_[thread].where};
}

/// Which lanes the first thread that waits for lanes has waited for in vain.
void Block::note_missing_lanes(FaultRecord& record) const {
  for (unsigned i = 0; i < size_; ++i) {
    const State state = threads_[i].state;
    if (state != State::at_warp_barrier && state != State::at_shuffle && state != State::at_vote) continue;
    for (const unsigned lane : lanes_of(waiting_[i].mask & ~warps_[i / warp_size].finished)) {
      const unsigned other = in_warp_of(i, lane);
      const bool is_here = threads_[other].state == state && waiting_[other].mask == waiting_[i].mask &&
                           is_same_call(state, waiting_[other], waiting_[i]);
      if (!is_here) record.missing_lanes.push_back(lane);
    }
    record.waiting_thread = i;
    if (!record.missing_lanes.empty()) return;
  }
}

/// No thread can go on. Threads by what they wait for: the same words for the same fault in every schedule.
FaultRecord Block::stall() const {
  struct Group {
    State state;
    SourceLine where;
    std::vector<unsigned> threads;
  };
  std::vector<Group> groups;
  for (unsigned i = 0; i < size_; ++i) {
    const Thread& thread = threads_[i];
    const SourceLine where = thread.state == State::finished ? SourceLine{} : thread.where;
    const auto same = [&](const Group& group) {
      return group.state == thread.state && group.where == where &&
             (group.state != State::at_block_barrier ||
              at_same_barrier(thread, threads_[group.threads.front()]));
    };
    auto group = std::ranges::find_if(groups, same);
    if (group == groups.end()) group = groups.insert(groups.end(), {thread.state, where, {}});
    group->threads.push_back(i);
  }

  std::size_t block_barriers = 0;
  bool only_block_barriers = true;
  FaultRecord record{Fault::deadlock, "", {}};
  for (const Group& group : groups) {
    const bool is_one = group.threads.size() == 1;
    std::string action = is_one ? "has left the kernel" : "have left the kernel";
    const std::string wait = is_one ? "waits" : "wait";
    switch (group.state) {
      case State::at_block_barrier:
        action = wait + " at __syncthreads()";
        ++block_barriers;
        break;
      case State::at_warp_barrier:
        action = wait + " at __syncwarp()";
        only_block_barriers = false;
        break;
      case State::at_shuffle:
        action = wait + " at a shuffle";
        only_block_barriers = false;
        break;
      case State::at_vote:
        action = wait + " at a vote";
        only_block_barriers = false;
        break;
      default: break;
    }
    // For several barriers on one line, its number is not enough.
    const bool is_alone = group.state != State::at_block_barrier ||
                          1 == std::ranges::count_if(groups, [&](const Group& other) {
                            return other.state == group.state && other.where == group.where;
                          });
    const void* const call_site = is_alone ? nullptr : threads_[group.threads.front()].call_site;
    record.actions.push_back({group.threads, number_, std::move(action), call_site, group.where});
  }
  if (!only_block_barriers) note_missing_lanes(record);
  if (only_block_barriers) {
    record.fault = block_barriers > 1 ? Fault::divergent_barrier : Fault::missed_barrier;
  }
  return record;
}

}  // namespace __emulated
