#include <algorithm>
#include <bit>
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

void Block::make_ready(unsigned thread) {
  warp_of(thread).stopped &= ~bit_of(thread % warp_size);
  scheduler_.make_ready(thread);
}

void Block::make_all_ready() {
  for (Warp& warp : warps_)
    warp.stopped = 0;
  scheduler_.make_all_ready(size_);
}

/// The running thread comes to where it may have to wait.
unsigned Block::come_to(State state, const void* call_site) {
  const unsigned thread = scheduler_.current();
  observers_.call(thread);
  threads_[thread].state = state;
  threads_[thread].call_site = call_site;
  require_stack();
  return thread;
}

/// The last thread of the block has come to the barrier.
void Block::release_block(const void* call_site) {
  require_stack();
  arrived_ = 0;
  released_true_ = std::exchange(arrived_true_, 0);
  observers_.block_sync(call_site);
  make_all_ready();
  ++releases_;
  watchdog_.meet(size_);
}

void Block::warp_barrier(unsigned mask, const void* call_site) {
  const AtWork at_work{*this};
  wait_for_lanes({EventKind::warp_barrier, mask}, {}, call_site);
}

void Block::shuffle(Shuffle kind, unsigned mask, int operand, int width, std::span<std::byte> value,
                    const void* call_site) {
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  if (width < 1 || width > static_cast<int>(warp_size) || (width & (width - 1)) != 0) {
    fail(Fault::invalid_width, "", "shuffles in a width of " + std::to_string(width), call_site,
         "a width is 1, 2, 4, 8, 16 or 32");
  }
  exchanges_[thread].source_lane =
      source_lane(kind, thread % warp_size, operand, static_cast<unsigned>(width));
  wait_for_lanes({EventKind::shuffle, mask, kind}, value, call_site);
}

std::uint64_t Block::vote(VoteRule rule, unsigned mask, std::uint64_t value, const void* call_site) {
  const AtWork at_work{*this};
  wait_for_lanes({EventKind::vote, mask, {}, rule}, std::as_writable_bytes(std::span{&value, 1}), call_site);
  return value;
}

unsigned Block::active_lanes(const void* call_site) {
  const AtWork at_work{*this};
  const unsigned thread = come_to(State::at_active_lanes, call_site);
  warp_of(thread).asking |= bit_of(thread % warp_size);
  stop_lane(thread);
  suspend(thread);
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

void Block::named_barrier(unsigned id, unsigned threads, const void* call_site) {
  const AtWork at_work{*this};
  const unsigned thread = come_to(State::at_named_barrier, call_site);
  stop_lane(thread);
  NamedBarrier& barrier = named_barriers_[id];
  barrier.threads = threads;
  barrier.waiting.push_back(thread);
  if (barrier.arrived() == threads) release_named(barrier);
  suspend(thread);
  watchdog_.take(thread, call_site, {});
}

void Block::arrive_at_named_barrier(unsigned id, unsigned threads, const void* call_site) {
  const AtWork at_work{*this};
  const unsigned thread = come_to(State::started, call_site);
  NamedBarrier& barrier = named_barriers_[id];
  barrier.threads = threads;
  ++barrier.gone_on;
  if (observers_.are_there()) observers_.arrive(thread, barrier.told);
  if (barrier.arrived() == threads) release_named(barrier);
}

void Block::grid_barrier(const void* call_site) {
  const AtWork at_work{*this};
  const unsigned thread = come_to(State::at_grid_barrier, call_site);
  if (!is_cooperative()) {
    fail(Fault::trap, "", "waits for all blocks, which need not be there", call_site,
         "launch the kernel by cudaLaunchCooperativeKernel()");
  }
  ++arrived_at_grid_;
  stop_lane(thread);
  suspend(thread);
  watchdog_.take(thread, call_site, {});
}

void Block::pass_grid_barrier() {
  arrived_at_grid_ = 0;
  watchdog_.meet(size_);
  observers_.grid_sync(threads_.front().call_site);
  make_all_ready();
}

/// The last thread has come. What warps see of it is a barrier of theirs.
void Block::release_named(NamedBarrier& barrier) {
  std::vector<unsigned> met = std::exchange(barrier.waiting, {});
  const HappensBefore::Knowledge told = std::exchange(barrier.told, {});
  const bool tells = std::exchange(barrier.gone_on, 0) > 0 && observers_.are_there();
  std::ranges::sort(met);
  const void* const call_site = threads_[scheduler_.current()].call_site;
  for (unsigned first = 0; first < met.size();) {
    const unsigned index = met[first] / warp_size;
    unsigned group = 0;
    for (; first < met.size() && met[first] / warp_size == index; ++first)
      group |= bit_of(met[first] % warp_size);
    observers_.warp_sync({EventKind::warp_barrier, index, group, group, warps_[index].lanes, 0, call_site},
                         {});
  }
  if (!met.empty()) observers_.named_sync(met);
  for (const unsigned thread : met) {
    if (tells) observers_.pass(thread, told);
    make_ready(thread);
  }
  watchdog_.meet(static_cast<unsigned>(met.size()));
}

void Block::bring(std::span<const std::byte> value) {
  std::ranges::copy(value, exchanges_[scheduler_.current()].brought.begin());
}

void Block::take_from(unsigned thread, std::span<std::byte> value) const {
  std::ranges::copy(std::span{exchanges_[thread].brought}.first(value.size()), value.begin());
}

/// Waits until all lanes of the mask have made the same call. What the running thread brings is replaced by what it gets.
void Block::wait_for_lanes(const Waiting& what, std::span<std::byte> value, const void* call_site) {
  const unsigned thread = scheduler_.current();
  observers_.meet(thread, call_site);
  Thread& self = threads_[thread];
  Warp& warp = warp_of(thread);
  const unsigned own = bit_of(thread % warp_size);
  self.call_site = call_site;
  self.chain = 0;
  require_stack();
  if ((what.mask & own) == 0) {
    fail(Fault::invalid_mask, "", "is not in the mask that it passes", call_site,
         "a mask has to name the lane that passes it, here lane " + std::to_string(thread % warp_size));
  }
  waiting_[thread] = what;
  waiting_[thread].mask &= warp.lanes;
  LaneExchange& exchange = exchanges_[thread];
  exchange.bytes = value.size();
  std::ranges::copy(value, exchange.brought.begin());
  self.state = State::at_lanes;
  warp.waiting |= own;
  stop_lane(thread);
  release_complete_group(thread);
  suspend(thread);
  std::ranges::copy(std::span{exchange.received}.first(value.size()), value.begin());
  watchdog_.take(thread, call_site, value);
}

/// Makes the lanes that wait for each other with `member` ready if the last of them has arrived.
void Block::release_complete_group(unsigned member) {
  const Waiting& first = waiting_[member];
  Warp& warp = warp_of(member);
  const unsigned group = first.mask & ~warp.finished;
  if ((warp.waiting & group) != group) return;
  for (const unsigned lane : lanes_of(group))
    if (waiting_[in_warp_of(member, lane)] != first) return;
  warp.waiting &= ~group;
  if (first.kind == EventKind::shuffle) hand_over_values(member, group);
  if (first.kind == EventKind::vote) hand_over_votes(member, group);
  const WarpSync met{first.kind,
                     member / warp_size,
                     group,
                     first.mask,
                     warp.lanes,
                     exchanges_[member].bytes,
                     threads_[member].call_site};
  observers_.warp_sync(met, std::span{exchanges_}.subspan(met.warp * warp_size, warp_size));
  for (const unsigned lane : lanes_of(group))
    make_ready(in_warp_of(member, lane));
  watchdog_.meet(static_cast<unsigned>(std::popcount(group)));
}

/// Gives each lane of a complete shuffle its value, now: a lane that runs on may bring the next one.
void Block::hand_over_values(unsigned member, unsigned group) {
  for (const unsigned lane : lanes_of(group)) {
    const unsigned receiver = in_warp_of(member, lane);
    const unsigned source = exchanges_[receiver].source_lane;
    exchanges_[receiver].received = exchanges_[in_warp_of(member, source)].brought;
    if ((group & bit_of(source)) != 0) continue;
    const Warp& warp = warp_of(member);
    const char* const reason = (warp.lanes & bit_of(source)) == 0      ? " is beyond the end of the block"
                               : (warp.finished & bit_of(source)) != 0 ? " has left the kernel"
                                                                       : " is not in the mask";
    faults_.add(
        {Fault::inactive_lane,
         "",
         {{{receiver},
           number_,
           "shuffles from the inactive lane " + std::to_string(source),
           threads_[receiver].call_site}},
         "lane " + std::to_string(source) + reason + ": a shuffle may only ask lanes that call it, too"});
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
  if (scheduler_.is_stack_short(__builtin_frame_address(0)))
    stop_for_crash(Crash::stack_overflow, threads_[scheduler_.current()].call_site);
}

/// Says which lanes the first thread that waits for lanes has waited for in vain, or else which part of the block.
std::string Block::missing_threads_help() const {
  for (unsigned i = 0; i < size_; ++i) {
    if (threads_[i].state != State::at_lanes) continue;
    std::vector<unsigned> missing;
    for (const unsigned lane : lanes_of(waiting_[i].mask & ~warps_[i / warp_size].finished)) {
      const unsigned other = in_warp_of(i, lane);
      const bool is_here = threads_[other].state == State::at_lanes && waiting_[other] == waiting_[i];
      if (!is_here) missing.push_back(lane);
    }
    if (missing.empty()) continue;
    return "the mask of thread " + std::to_string(i) + " also names " + describe_numbers("lane", missing) +
           ": all lanes of a mask have to make the same call, with the same mask";
  }
  for (const auto& [address, barrier] : arrivals_)
    if (!barrier.waiting.empty()) return missing_arrivals_help(barrier);
  for (const auto& [id, barrier] : named_barriers_) {
    if (barrier.waiting.empty()) continue;
    return "of the " + std::to_string(barrier.threads) + " threads of a barrier " +
           std::to_string(barrier.arrived()) + (barrier.arrived() == 1 ? " has" : " have") +
           " come: all of them have to";
  }
  return "";
}

/// What a thread waits at, or "" if it has left the kernel.
std::string Block::waits_at(unsigned thread) const {
  if (threads_[thread].state == State::at_block_barrier) return "__syncthreads()";
  if (threads_[thread].state == State::at_grid_barrier) return "the barrier of the grid";
  if (threads_[thread].state == State::at_named_barrier) return "a barrier of a part of the block";
  if (const auto barrier = std::ranges::find_if(
          arrivals_, [&](const auto& each) { return std::ranges::count(each.second.waiting, thread) != 0; });
      barrier != arrivals_.end())
    return "the barrier " + shared_.describe(shared_.offset_of(barrier->first), sizeof(std::uint64_t));
  if (threads_[thread].state != State::at_lanes) return "";
  switch (waiting_[thread].kind) {
    case EventKind::shuffle: return "a shuffle";
    case EventKind::vote: return "a vote";
    default: return "__syncwarp()";
  }
}

/// No thread can go on. Threads by what they wait for: the same words for the same fault in every schedule.
FaultRecord Block::stall() const {
  std::vector<std::vector<unsigned>> groups;
  for (unsigned i = 0; i < size_; ++i) {
    const auto same = [&](const std::vector<unsigned>& group) {
      const Thread& other = threads_[group.front()];
      return waits_at(group.front()) == waits_at(i) &&
             (waits_at(i).empty() || at_same_call(other, threads_[i]));
    };
    auto group = std::ranges::find_if(groups, same);
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->push_back(i);
  }

  FaultRecord record{Fault::deadlock, "", {}};
  std::size_t block_barriers = 0;
  bool only_block_barriers = true;
  for (const std::vector<unsigned>& group : groups) {
    const Thread& first = threads_[group.front()];
    const std::string place = waits_at(group.front());
    const std::string verb = group.size() == 1 ? "waits at " : "wait at ";
    const std::string left = group.size() == 1 ? "has left the kernel" : "have left the kernel";
    record.witnesses.push_back(
        {group, number_, place.empty() ? left : verb + place, place.empty() ? nullptr : first.call_site});
    if (first.state == State::at_block_barrier) ++block_barriers;
    if (first.state == State::at_lanes || first.state == State::at_named_barrier ||
        first.state == State::at_arrival_barrier)
      only_block_barriers = false;
  }
  if (!only_block_barriers) {
    record.help = missing_threads_help();
  } else if (block_barriers > 1) {
    record.fault = Fault::divergent_barrier;
    record.help =
        "all threads of the block have to meet at the same `__syncthreads()`: put it outside of the branch "
        "or "
        "loop in which they go different ways";
  } else {
    record.fault = Fault::missed_barrier;
    record.help =
        "every thread of the block has to reach this barrier, idle ones too: no `return` before it, and no "
        "condition around it that only some meet";
    // Where blocks with a lower number have passed it, it is their input that differs.
    record.page = number_ == 0 ? "barrier_for_working_threads" : "barrier_inside_the_bounds_check";
  }
  return record;
}

}  // namespace __emulated
