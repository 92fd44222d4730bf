#include "device/emulated/multiprocessor.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <sstream>

#include "device/emulated/builtin_variables.hpp"
#include "device/emulated/device.hpp"
#include "device/emulated/global_checker.hpp"
#include "device/emulated/grid.hpp"
#include "device/emulated/lanes.hpp"

#ifdef REDUCTION_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace reduction::emulated {
namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

/// A block that goes on for longer than this is taken to go on forever:
/// barriers it has passed, accesses of all its threads without one.
constexpr std::size_t most_releases = 100'000;
constexpr std::size_t most_accesses = std::size_t{1} << 24;

/// Thrown through a thread to destroy what it holds, once its block has failed.
struct Unwind {};

/// Stacks that begin at different cache sets: at equal ones their tops would
/// evict each other.
std::span<std::byte> stack_of(unsigned thread, const Mapping& stacks) {
  const std::size_t offset = thread % 16 * 256;
  return {stacks.begin() + thread * stack_bytes, stack_bytes - offset};
}

/// The lane whose value a shuffle gives to `lane`: CUDA C++ Programming Guide,
/// "Warp Shuffle Functions".
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

// ---- a block's threads take turns ----

Multiprocessor& Multiprocessor::local() {
  static thread_local Multiprocessor multiprocessor;
  return multiprocessor;
}

Multiprocessor::Multiprocessor()
    : stacks_{properties().threads_per_block * stack_bytes, Backing::as_touched},
      shared_{properties().shared_bytes_per_block + 2 * shared_margin},
      threads_(properties().threads_per_block) {
  for (unsigned i = 0; i < threads_.size(); ++i)
    threads_[i].index = i;
}

Multiprocessor::~Multiprocessor() {
  closing_ = true;
  for (Thread& thread : threads_) {
    if (thread.fiber) switch_to(&thread);
  }
}

/// The life of a fiber: one thread of a block after the other.
Fiber& Multiprocessor::live_as(Thread& self) {
  while (!closing_) {
    self.state = State::running;
    try {
      const KernelCall& kernel = grid_->kernel();
      kernel.run_thread(kernel.arguments.data());
    } catch (const Unwind&) {
      // The block has failed, and it is known why.
    } catch (...) {
      exception_ = std::current_exception();
      failed_ = true;
    }
    finish(self);
    run_next();
  }
  current_ = nullptr;
  return scheduler_;
}

std::vector<Evidence> Multiprocessor::run(Grid& grid, std::size_t block) {
  prepare(grid, block);
  running_ = this;
  run_next();
  // Control comes back when no thread is ready: all have left the kernel, one
  // has failed, or they are stuck.
  if (!failed_ && finished_ != size_) {
    findings_.add(stall());
    failed_ = true;
  }
  if (failed_) unwind();
  running_ = nullptr;

  ++counters_.blocks;
  counters_.threads += size_;
  if (instrumented_) {
    if (failed_) instrumentation_.abandon_block();
    instrumentation_.block_barrier(static_cast<unsigned>(warps_.size()), counters_);
  }
  std::vector<Evidence> evidence = findings_.take();
  if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  return evidence;
}

void Multiprocessor::prepare(Grid& grid, std::size_t block) {
  grid_ = &grid;
  block_ = block;
  size_ = grid.config().block;
  shared_bytes_ = grid.config().shared_bytes;
  finished_ = arrived_ = 0;
  barrier_is_divergent_ = has_turn_ = failed_ = false;
  releases_ = accesses_ = 0;
  last_buffer_ = nullptr;
  instrumented_ = grid.is_instrumented();
  if (instrumented_) instrumentation_.begin_block(grid, block);
  ::gridDim = {static_cast<unsigned>(grid.config().grid), 1, 1};
  ::blockDim = {size_, 1, 1};
  ::blockIdx = {static_cast<unsigned>(block), 0, 0};

  warps_.assign((size_ + warp_size - 1) / warp_size, Warp{});
  if (const unsigned rest = size_ % warp_size; rest != 0) warps_.back().lanes = bit_of(rest) - 1;
  ready_.begin_block(grid.schedule(), block);
  for (unsigned i = 0; i < size_; ++i) {
    Thread& thread = threads_[i];
    thread.state = State::not_started;
    if (!thread.fiber) {
      thread.fiber.prepare(stack_of(i, stacks_), [this, &thread]() -> Fiber& { return live_as(thread); });
    }
    ready_.push(i);
  }
  accesses_left_ = ready_.accesses_in_a_turn();
}

/// Suspends what is running here and continues the next thread that is ready;
/// the scheduler if there is none.
inline void Multiprocessor::run_next() {
  switch_to(ready_.empty() || failed_ ? nullptr : &threads_[ready_.pop()]);
}

inline void Multiprocessor::switch_to(Thread* next) {
  Fiber& from = current_ != nullptr ? current_->fiber : scheduler_;
  Fiber& to = next != nullptr ? next->fiber : scheduler_;
  current_ = next;
  if (next != nullptr) ::threadIdx.x = next->index;
  if (&from != &to) from.switch_to(to);
}

/// Lets other threads run until something has made this one ready again.
inline void Multiprocessor::suspend(Thread& self) {
  run_next();
  if (failed_) throw Unwind{};
  self.state = State::running;
}

/// Lets all other threads that are ready run before this one goes on.
void Multiprocessor::give_way(Thread& self) {
  ready_.push_behind(self.index);
  suspend(self);
}

void Multiprocessor::finish(Thread& self) {
  self.state = State::finished;
  ++finished_;
  Warp& warp = warp_of(self);
  warp.finished |= bit_of(self.index % warp_size);
  // Lanes that waited for this one need it no longer.
  for (const unsigned lane : lanes_of(warp.waiting)) {
    if ((warp.waiting & bit_of(lane)) != 0 && !failed_) release_complete_group(thread_at(self, lane));
  }
}

/// Ends the block from within one of its threads.
void Multiprocessor::abort_block(Evidence evidence) {
  findings_.add(std::move(evidence));
  failed_ = true;
  throw Unwind{};
}

/// Destroys what the threads of a failed block hold.
void Multiprocessor::unwind() {
  for (unsigned i = 0; i < size_; ++i) {
    if (threads_[i].state == State::not_started || threads_[i].state == State::finished) continue;
    switch_to(&threads_[i]);
  }
}

// ---- barriers and shuffles ----

void Multiprocessor::block_barrier(SourceLine where) {
  Thread& self = *current_;
  self.state = State::at_block_barrier;
  self.where = where;
  if (arrived_ == 0) barrier_ = where;
  // Threads at different barriers never go on: the block stalls there, and the
  // stall is reported.
  if (!(where == barrier_)) barrier_is_divergent_ = true;
  if (++arrived_ == size_ && !barrier_is_divergent_) {
    arrived_ = 0;
    ++counters_.block_barriers;
    if (instrumented_) instrumentation_.block_barrier(static_cast<unsigned>(warps_.size()), counters_);
    for (unsigned i = 0; i < size_; ++i)
      ready_.push(i);
    note_release();
  }
  suspend(self);
}

void Multiprocessor::warp_barrier(unsigned mask, SourceLine where) {
  wait_for_lanes(*current_, State::at_warp_barrier, mask, where);
}

void Multiprocessor::shuffle(Shuffle kind, unsigned mask, int operand, int width, void* value,
                             std::size_t bytes, SourceLine where) {
  Thread& self = *current_;
  self.shuffle = kind;
  self.source_lane = source_lane(kind, self.index % warp_size, operand, static_cast<unsigned>(width));
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

/// Makes the lanes that wait for each other with `member` ready if the last of
/// them has arrived.
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
    ++counters_.shuffles;
  } else {
    ++counters_.warp_barriers;
    if (instrumented_) instrumentation_.warp_barrier(index, group, warp.lanes);
  }
  if (instrumented_ && member.mask == warp.lanes) instrumentation_.warp_converged(index, counters_);
  for (const unsigned lane : lanes_of(group))
    ready_.push(thread_at(member, lane).index);
  note_release();
}

/// Gives each lane of a complete shuffle its value, now: a lane that runs on
/// may bring the next one.
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

/// Threads of the block have met: it goes on, unless it has done nothing else
/// for too long.
void Multiprocessor::note_release() {
  accesses_ = 0;
  if (++releases_ < most_releases || failed_) return;
  findings_.add({Fault::endless_loop, "", {witness(*current_, "has passed 100 000 barriers, the last")}});
  failed_ = true;
}

// ---- accesses to memory ----

void Multiprocessor::access(const Access& access) {
  if (on_stack(access.address)) return;
  Thread& self = *current_;
  if (in_shared_memory(access.address, access.bytes)) {
    if (instrumented_) {
      const auto offset = static_cast<std::size_t>(access.address - shared_begin());
      instrumentation_.shared_access(access, offset, self.index, findings_);
    }
  } else if (Buffer* const buffer = find_buffer(access)) {
    if (instrumented_) instrumentation_.global_access(access, *buffer, self.index, findings_);
  } else if (!in_arguments(access.address)) {
    abort_block(stray(access));
  }
  count_access(self);
}

void Multiprocessor::begin_atomic(const void* address, std::size_t bytes, const void* call_site) {
  const std::byte* const begin = static_cast<const std::byte*>(address);
  if (!has_turn_ && !in_shared_memory(begin, bytes)) {
    grid_->wait_for_turn(block_);
    has_turn_ = true;
  }
  access({Operation::atomic, begin, bytes, call_site});
  ++counters_.atomics;
}

/// Takes the turn from a thread that has made many accesses, and ends a block
/// that makes nothing else.
inline void Multiprocessor::count_access(Thread& self) {
  if (--accesses_left_ != 0 || failed_) return;
  const unsigned in_a_turn = ready_.accesses_in_a_turn();
  accesses_left_ = in_a_turn;
  accesses_ += in_a_turn;
  if (accesses_ > most_accesses) {
    abort_block(
        {Fault::endless_loop, "", {witness(self, "runs without a barrier, its block for 2^24 accesses,")}});
  }
  give_way(self);
}

Buffer* Multiprocessor::find_buffer(const Access& access) {
  if (last_buffer_ != nullptr && last_buffer_->contains(access.address, access.bytes)) return last_buffer_;
  Buffer* const buffer = global_memory().nearest(access.address);
  if (buffer == nullptr || !buffer->contains(access.address, access.bytes)) return nullptr;
  return last_buffer_ = buffer;
}

bool Multiprocessor::on_stack(const std::byte* address) const {
  if (static_cast<std::size_t>(address - stacks_.begin()) < stacks_.bytes()) return true;
#ifdef REDUCTION_ADDRESS_SANITIZER
  // Where it looks for uses after a return, variables live on a stack of its
  // own.
  void* const fake_stack = __asan_get_current_fake_stack();
  return fake_stack != nullptr && __asan_addr_is_in_fake_stack(fake_stack, const_cast<std::byte*>(address),
                                                               nullptr, nullptr) != nullptr;
#else
  return false;
#endif
}

bool Multiprocessor::in_shared_memory(const std::byte* address, std::size_t bytes) const {
  const auto offset = static_cast<std::size_t>(address - shared_begin());
  return offset < shared_bytes_ && bytes <= shared_bytes_ - offset;
}

bool Multiprocessor::in_arguments(const std::byte* address) const {
  const std::span<const std::byte> arguments = grid_->kernel().arguments;
  return static_cast<std::size_t>(address - arguments.data()) < arguments.size();
}

// ---- what went wrong ----

Witness Multiprocessor::witness(const Thread& thread, const char* deed) const {
  return {describe_threads({thread.index}), block_, deed, nullptr, thread.where};
}

Evidence Multiprocessor::stray(const Access& access) const {
  std::ostringstream memory;
  if (static_cast<std::size_t>(access.address - shared_.begin()) < shared_.bytes()) {
    const auto bytes = static_cast<std::ptrdiff_t>(access.bytes);
    const std::ptrdiff_t offset = access.address - shared_begin();
    memory << bytes << "-byte word " << (offset < 0 ? (offset - bytes + 1) / bytes : offset / bytes)
           << " of shared memory of " << shared_bytes_ / access.bytes;
  } else if (const Buffer* const buffer = global_memory().nearest(access.address)) {
    memory << describe_global(access, *buffer);
  } else {
    memory << access.bytes << " bytes that are in no memory of the device";
  }
  return {Fault::out_of_bounds,
          memory.str(),
          {{describe_threads({current_->index}), block_, verb_of(access.operation), access.call_site, {}}}};
}

/// No thread can go on. Threads by what they wait for: the same words for the
/// same fault in every schedule.
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
