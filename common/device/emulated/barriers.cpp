#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "device/emulated/lanes.hpp"
#include "device/emulated/multiprocessor.hpp"

/// \file
/// How the threads of a block wait for each other: Multiprocessor's barriers and shuffles.

namespace reduction::emulated {
namespace {

/// Block barriers of a block, or barriers and shuffles of a warp, after which it is taken to go on forever.
constexpr unsigned most_releases = 1U << 18;

/// What one shuffle instruction moves for each lane: larger values take several.
constexpr std::size_t shuffle_bytes = 4;

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

bool Multiprocessor::block_barrier(SourceLine where, bool predicate) {
  Thread& self = *current_;
  self.state = State::at_block_barrier;
  self.where = where;
  if (arrived_ == 0) barrier_ = where;
  arrived_any_ = arrived_any_ || predicate;
  // Threads at different barriers never go on: the block stalls there, and the stall is reported.
  if (!(where == barrier_)) barrier_is_divergent_ = true;
  if (++arrived_ == size_ && !barrier_is_divergent_) {
    arrived_ = 0;
    released_any_ = std::exchange(arrived_any_, false);
    ++counters_.block_barriers;
    if (instrumented_) instrumentation_.block_barrier(static_cast<unsigned>(warps_.size()), counters_);
    for (unsigned i = 0; i < size_; ++i)
      ready_.push(i);
    note_release(releases_);
  }
  suspend(self);
  return released_any_;
}

void Multiprocessor::warp_barrier(unsigned mask, SourceLine where) {
  wait_for_lanes(*current_, State::at_warp_barrier, mask, where);
}

void Multiprocessor::shuffle(Shuffle kind, unsigned mask, int operand, int width, void* value,
                             std::size_t bytes, SourceLine where) {
  Thread& self = *current_;
  self.where = where;
  if (width < 1 || width > static_cast<int>(warp_size) || (width & (width - 1)) != 0) {
    abort_block(
        {Fault::invalid_width, "", {witness(self, "shuffles in a width that is no power of two up to 32")}});
  }
  self.shuffle = kind;
  self.source_lane = source_lane(kind, self.index % warp_size, operand, static_cast<unsigned>(width));
  self.bytes = bytes;
  std::memcpy(self.brought.data(), value, bytes);
  wait_for_lanes(self, State::at_shuffle, mask, where);
  std::memcpy(value, self.received.data(), bytes);
}

void Multiprocessor::wait_for_lanes(Thread& self, State state, unsigned mask, SourceLine where) {
  Warp& warp = warp_of(self);
  const unsigned own = bit_of(self.index % warp_size);
  self.mask = mask & warp.lanes;
  self.where = where;
  if ((mask & own) == 0) {
    abort_block({Fault::invalid_mask, "", {witness(self, "is not in the mask that it passes")}});
  }
  self.state = state;
  warp.waiting |= own;
  release_complete_group(self);
  suspend(self);
}

/// Makes the lanes that wait for each other with `member` ready if the last of them has arrived.
void Multiprocessor::release_complete_group(const Thread& member) {
  Warp& warp = warp_of(member);
  const unsigned group = member.mask & ~warp.finished;
  if ((warp.waiting & group) != group) return;
  for (const unsigned lane : lanes_of(group)) {
    const Thread& other = thread_at(member, lane);
    const bool same_call = member.state != State::at_shuffle || other.shuffle == member.shuffle;
    if (other.state != member.state || other.mask != member.mask || !same_call) return;
  }
  warp.waiting &= ~group;
  const unsigned index = member.index / warp_size;
  if (member.state == State::at_shuffle) {
    hand_over_values(member, group);
    counters_.shuffles += (member.bytes + shuffle_bytes - 1) / shuffle_bytes;
  } else {
    ++counters_.warp_barriers;
    if (instrumented_) instrumentation_.warp_barrier(index, group, warp.lanes);
  }
  if (instrumented_ && member.mask == warp.lanes) instrumentation_.warp_converged(index, counters_);
  for (const unsigned lane : lanes_of(group))
    ready_.push(thread_at(member, lane).index);
  note_release(warp.releases);
}

/// Gives each lane of a complete shuffle its value, now: a lane that runs on may bring the next one.
void Multiprocessor::hand_over_values(const Thread& member, unsigned group) {
  for (const unsigned lane : lanes_of(group)) {
    Thread& receiver = thread_at(member, lane);
    receiver.received = thread_at(member, receiver.source_lane).brought;
    if ((group & bit_of(receiver.source_lane)) != 0) continue;
    const std::string deed =
        "shuffles from lane " + std::to_string(receiver.source_lane) + ", which takes no part,";
    findings_.add({Fault::inactive_lane, "", {witness(receiver, deed.c_str())}});
    failed_ = true;
    return;
  }
}

/// Threads of the block have met once more: they go on, unless they have done so for too long.
void Multiprocessor::note_release(unsigned& releases) {
  accesses_ = 0;
  if (++releases < most_releases || failed_) return;
  findings_.add({Fault::endless_loop, "", {witness(*current_, "has passed 2^18 barriers, the last")}});
  failed_ = true;
}

/// No thread can go on. Threads by what they wait for: the same words for the same fault in every schedule.
Evidence Multiprocessor::stall() const {
  struct Group {
    State state;
    SourceLine where;
    std::vector<unsigned> threads;
  };
  std::vector<Group> groups;
  for (unsigned i = 0; i < size_; ++i) {
    const Thread& thread = threads_[i];
    const SourceLine where = thread.state == State::finished ? SourceLine{} : thread.where;
    const auto same = [&](const Group& group) { return group.state == thread.state && group.where == where; };
    auto group = std::ranges::find_if(groups, same);
    if (group == groups.end()) group = groups.insert(groups.end(), {thread.state, where, {}});
    group->threads.push_back(i);
  }

  std::size_t block_barriers = 0;
  bool only_block_barriers = true;
  Evidence evidence{Fault::deadlock, "", {}};
  for (const Group& group : groups) {
    const char* deed = "have left the kernel";
    switch (group.state) {
      case State::at_block_barrier:
        deed = "wait at __syncthreads()";
        ++block_barriers;
        break;
      case State::at_warp_barrier:
        deed = "wait at __syncwarp()";
        only_block_barriers = false;
        break;
      case State::at_shuffle:
        deed = "wait at a shuffle";
        only_block_barriers = false;
        break;
      default: break;
    }
    evidence.witnesses.push_back({describe_threads(group.threads), block_, deed, nullptr, group.where});
  }
  if (only_block_barriers) {
    evidence.fault = block_barriers > 1 ? Fault::divergent_barrier : Fault::missed_barrier;
  }
  return evidence;
}

}  // namespace reduction::emulated
