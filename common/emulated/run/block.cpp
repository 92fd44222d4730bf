#include "emulated/run/block.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

#include "emulated/findings/memory_faults.hpp"
#include "emulated/memory/kernel_heap.hpp"
#include "emulated/run/device.hpp"

namespace __emulated::builtin {

thread_local constinit uint3 threadIdx{};
thread_local constinit uint3 blockIdx{};
thread_local constinit uint3 blockDim{};
thread_local constinit uint3 gridDim{};

}  // namespace __emulated::builtin

namespace __emulated {
namespace {

/// Accesses of a thread, since its warp last met, from which on they are counted early.
constexpr std::size_t least_pending = std::size_t{1} << 12;

/// And so many at most are kept until it is known which of them are one instruction.
constexpr std::size_t most_pending = std::size_t{1} << 16;

uint3 index_in(const dim3& shape, std::size_t number) {
  return {static_cast<unsigned>(number % shape.x), static_cast<unsigned>(number / shape.x % shape.y),
          static_cast<unsigned>(number / shape.x / shape.y)};
}

uint3 extent_of(const dim3& shape) { return {shape.x, shape.y, shape.z}; }

}  // namespace

Block& Block::local() {
  static thread_local Block block;
  return block;
}

Block::Block()
    : scheduler_{*this},
      threads_(properties().threads_per_block),
      waiting_(properties().threads_per_block),
      starts_(properties().threads_per_block),
      order_{properties().threads_per_block / warp_size},
      fences_{order_, properties().threads_per_block},
      instructions_{properties().threads_per_block},
      shared_races_{shared_},
      global_races_{fences_} {}

// ---- the life of a block ----

BlockOutcome Block::run(const LaunchContext& launch, std::size_t number) {
  prepare(launch, number);
  scheduler_.run();
  // No thread is ready: all have left the kernel, one has failed, or they are stuck.
  if (faults_.empty() && !exception_ && finished_ != size_) faults_.add(stall());

  if (instrumented_) {
    if (finished_ != size_ && !recorder_) instructions_.clear();
    end_interval();
    global_races_.end_block(number, order_, faults_, launch.races);
  }
  if (recorder_) end_trace();
  return {counters_, faults_.take(), std::exchange(exception_, nullptr)};
}

void Block::end_trace() {
  recorder_->end_block();
  launch_->trace->shared_variables.assign(shared_.declared().begin(), shared_.declared().end());
  recorder_.reset();
  launch_->trace->counters = counters_;
}

void Block::prepare(const LaunchContext& launch, std::size_t number) {
  launch_ = &launch;
  number_ = number;
  instrumented_ = launch.instrumented;
  size_ = static_cast<unsigned>(count(launch.config.block));
  finished_ = arrived_ = arrived_true_ = releases_ = 0;
  barrier_is_divergent_ = has_turn_ = false;
  accesses_ = 0;
  watch_after_ = first_watch;
  watched_turns_ = first_turns;
  is_watching_ = false;
  alike_since_.reset();
  alike_watches_ = 0;
  stuck_thread_ = ReadyThreads::capacity;
  ticks_without_progress_ = 0;
  last_buffer_ = nullptr;
  counters_ = {.blocks = 1, .threads = size_};
  if (launch_number_ != launch.number) {
    shared_.begin_launch(launch.config.shared_bytes, launch.most_shared_bytes);
    chains_.begin_launch();
  }
  launch_number_ = launch.number;
  if (instrumented_) {
    order_.begin_block();
    fences_.begin_block(number, launch.races.order());
  }
  recorder_.reset();
  if (launch.trace != nullptr && launch.trace->block == number) recorder_.emplace(*launch.trace, size_);
  builtin::gridDim = extent_of(launch.config.grid);
  builtin::blockDim = extent_of(launch.config.block);
  builtin::blockIdx = index_in(launch.config.grid, number);

  warps_.assign((size_ + warp_size - 1) / warp_size, Warp{});
  count_after_.fill(least_pending);
  if (const unsigned rest = size_ % warp_size; rest != 0) warps_.back().lanes = bit_of(rest) - 1;
  for (unsigned i = 0; i < size_; ++i) {
    threads_[i].state = State::started;
    threads_[i].where = {};
  }
  scheduler_.begin_block(extent_of(launch.config.block), launch.schedule, number);
  accesses_left_ = scheduler_.accesses_in_a_turn();
}

/// The life of a fiber.
void Block::run_threads() {
  while (true) {
    run_thread();
    scheduler_.await_next_block();
  }
}

/// The whole of a thread. Inline, because what a thread returns through before another goes on is mispredicted.
inline void Block::run_thread() {
  starts_[scheduler_.current()] = static_cast<const Frame*>(__builtin_frame_address(0));
  running_ = this;
  try {
    launch_->kernel.run_thread(launch_->kernel.arguments.data());
  } catch (...) {
    running_ = nullptr;
    exception_ = std::current_exception();
  }
  running_ = nullptr;
  if (exception_) scheduler_.stop();
  finish(scheduler_.current());
  // A thread less to go on.
  if (is_watching_ && watched_meetings_ == nullptr) end_watch();
}

void Block::finish(unsigned thread) {
  if (recorder_) recorder_->exit(thread);
  threads_[thread].state = State::finished;
  ++finished_;
  alike_since_.reset();
  Warp& warp = warp_of(thread);
  warp.finished |= bit_of(thread % warp_size);
  stop_lane(thread);
  // Lanes that waited for this one need it no longer.
  for (const unsigned lane : lanes_of(warp.waiting)) {
    if ((warp.waiting & bit_of(lane)) != 0) release_complete_group(in_warp_of(thread, lane));
  }
  release_if_stopped(thread);
}

// A fault ends the block from within one of its threads. Nothing is thrown: the compiler takes for granted that an access
// to memory throws nothing, and kernels have functions that may not. Whoever calls scheduler_.stop() holds nothing by then.

void Block::stop_for_overflow(const void* call_site) {
  running_ = nullptr;
  faults_.add({Fault::stack_overflow,
               "",
               {{{scheduler_.current()}, number_, "has used up its stack", call_site, {}}}});
  scheduler_.stop();
}

void Block::trap(std::string action, const void* call_site) {
  const AtWork at_work{*this};
  faults_.add({Fault::trap, "", {{{scheduler_.current()}, number_, std::move(action), call_site, {}}}});
  scheduler_.stop();
}

// ---- accesses to memory ----

/// What is neither in dynamic shared memory nor in the buffer of the last access. Returns whether it is memory of the
/// device: what the program itself has is read without a word.
bool Block::access_elsewhere(const Access& access) {
  const AtWork at_work{*this};
  if (stuck_thread_ == scheduler_.current()) stop_for_time(access.call_site);
  scheduler_.cover_own_stack();
  if (scheduler_.on_own_stack(access.address)) return false;
  if (shared_.contains(access.address, access.bytes)) {
    if (instrumented_) note_shared(access);
  } else if (Buffer* const buffer = global_memory().find(access.address, access.bytes)) {
    last_buffer_ = buffer;
    if (instrumented_ || access.operation != Operation::load) note_global(access);
  } else if (access.operation != Operation::load ||
             !(in_arguments(access) || global_memory().is_constant(access.address, access.bytes))) {
    stop_for_stray(access);
  } else {
    return false;
  }
  return true;
}

void Block::stop_for_stray(const Access& access) {
  if (recorder_) recorder_->begin_access(scheduler_.current(), access);
  const bool is_local = scheduler_.on_own_stack(access.address);
  faults_.add(stray_access({number_, scheduler_.current(), access}, is_local, shared_));
  scheduler_.stop();
}

void Block::refuse(const Access& access) {
  const AtWork at_work{*this};
  if (stuck_thread_ == scheduler_.current()) stop_for_time(access.call_site);
  if (scheduler_.is_stack_short(__builtin_frame_address(0))) stop_for_overflow(access.call_site);
  if (access.operation == Operation::atomic && scheduler_.on_own_stack(access.address))
    stop_for_stray(access);
  if (recorder_) recorder_->begin_access(scheduler_.current(), access);
  faults_.add(misaligned_access({number_, scheduler_.current(), access}));
  scheduler_.stop();
}

void Block::note_shared(const Access& access) {
  const unsigned thread = scheduler_.current();
  shared_races_.check(access, thread, number_, order_, faults_);
  if (access.operation == Operation::atomic) return;
  const EventKind kind =
      access.operation == Operation::load ? EventKind::shared_load : EventKind::shared_store;
  if (recorder_) recorder_->access(thread, kind, access, shared_.word_of(access.address));
  instructions_.add(thread, {shared_.offset_of(access.address), access, chain_of(access.function), kind});
}

/// More than can be followed is the launch's failure.
void Block::check_global(const Access& access, unsigned thread) {
  try {
    return global_races_.check(access, *last_buffer_, thread, order_);
  } catch (...) {
    exception_ = std::current_exception();
  }
  scheduler_.stop();
}

void Block::note_global(const Access& access) {
  if (!instrumented_) {
    last_buffer_->mark(static_cast<std::size_t>(access.address - last_buffer_->begin()), access.bytes, true);
    return;
  }
  const unsigned thread = scheduler_.current();
  check_global(access, thread);
  if (access.operation == Operation::atomic) return;
  const EventKind kind =
      access.operation == Operation::load ? EventKind::global_load : EventKind::global_store;
  if (recorder_) recorder_->access(thread, kind, access, last_buffer_->word_of(access.address), last_buffer_);
  instructions_.add(
      thread, {reinterpret_cast<std::uintptr_t>(access.address), access, chain_of(access.function), kind});
}

/// All threads have met, or have left the kernel: what they do now is ordered after what they did before.
void Block::end_interval() {
  for (unsigned warp = 0; warp < warps_.size(); ++warp)
    count_warp(warp);
  order_.block_barrier();
  fences_.block_barrier();
}

void Block::count_warp(unsigned warp) {
  instructions_.count_warp(warp, counters_, recorder());
  if (recorder_) recorder_->end_warp_interval(warp);
}

/// A thread has made many accesses since its warp last met. Counts those that cannot become part of another instruction:
/// lanes that wait at a barrier of all have made all of theirs.
void Block::count_early(unsigned thread) {
  const unsigned index = thread / warp_size;
  if (instructions_.pending(thread) < count_after_[index]) return;
  if (recorder_ && !launch_->trace->truncated) return;
  const Warp& warp = warps_[index];
  unsigned going_on = warp.lanes & ~warp.finished;
  for (const unsigned lane : lanes_of(going_on)) {
    const Thread& other = threads_[in_warp_of(thread, lane)];
    const bool at_block_barrier = other.state == State::at_block_barrier && other.met == releases_;
    const bool in_whole_warp =
        (warp.waiting & bit_of(lane)) != 0 && waiting_[in_warp_of(thread, lane)].mask == warp.lanes;
    if (at_block_barrier || in_whole_warp) going_on &= ~bit_of(lane);
  }
  instructions_.count_complete(index, going_on, counters_, recorder());
  if (instructions_.pending(thread) > most_pending)
    instructions_.count_complete(index, 0, counters_, recorder());
  count_after_[index] = 2 * instructions_.pending(thread) + least_pending;
}

void Block::give_way() {
  const AtWork at_work{*this};
  scheduler_.give_way();
}

void Block::fence(FenceScope scope, const void* call_site) {
  const AtWork at_work{*this};
  if (instrumented_) fences_.fence(scheduler_.current(), scope);
  if (recorder_ && scope == FenceScope::device) recorder_->fence(scheduler_.current(), call_site);
}

void* Block::allocate(std::size_t bytes) {
  const AtWork at_work{*this};
  return kernel_heap().allocate(bytes);
}

void Block::release(void* memory, const void* call_site) {
  if (memory == nullptr) return;
  const AtWork at_work{*this};
  if (kernel_heap().release(memory)) return;
  faults_.add(stray_release(number_, scheduler_.current(), call_site));
  scheduler_.stop();
}

// What only a thread of the kernel can find out is a wrong launch, too. Whoever calls scheduler_.stop() holds no memory.

void* Block::shared_variable(const SharedDeclaration& declaration, std::size_t bytes) {
  const AtWork at_work{*this};
  try {
    return shared_.static_variable(declaration, bytes);
  } catch (const std::invalid_argument&) {
    exception_ = std::current_exception();
  }
  scheduler_.stop();
}

/// What `__launch_bounds__` has promised the compiler: a GPU has registers for so many threads only.
void Block::require_launch_bounds(unsigned most_threads) {
  const AtWork at_work{*this};
  if (size_ <= most_threads) return;
  exception_ = above_launch_bounds(most_threads);
  scheduler_.stop();
}

std::exception_ptr Block::above_launch_bounds(unsigned most_threads) const {
  const std::string kernel = kernel_name(launch_->kernel.entry);
  return std::make_exception_ptr(std::invalid_argument{
      "the emulated device cannot launch this: a block of " + (kernel.empty() ? "this kernel" : kernel) +
      " has threads, at most " + std::to_string(most_threads) + " by its __launch_bounds__, not " +
      std::to_string(size_)});
}

void Block::begin_atomic(const void* address, std::size_t bytes, const void* call_site,
                         const void* expected) {
  const auto* const begin = static_cast<const std::byte*>(address);
  const Access update{Operation::atomic, begin, bytes, call_site};
  if (recorder_) {
    const AtWork at_work{*this};
    recorder_->settle(scheduler_.current());
  }
  scheduler_.cover_own_stack();
  if (scheduler_.on_own_stack(begin)) refuse(update);
  if (!has_turn_) {
    const AtWork at_work{*this};
    if (!shared_.contains(begin, bytes)) {
      if (!launch_->turns.wait_for(number_)) scheduler_.stop();
      has_turn_ = true;
    }
  }
  access(update);
  ++counters_.atomics;
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  if (instrumented_) {
    // Others may have had their turn since: what they have released is acquired now.
    const bool stores = expected == nullptr || std::memcmp(address, expected, bytes) == 0;
    fences_.atomic(thread, {begin, bytes, !shared_.contains(begin, bytes), stores});
  }
  if (!recorder_) return;
  if (shared_.contains(begin, bytes)) {
    recorder_->access(thread, EventKind::shared_atomic, update, shared_.word_of(begin));
  } else {
    recorder_->access(thread, EventKind::global_atomic, update, last_buffer_->word_of(begin), last_buffer_);
  }
}

/// Takes the turn from a thread that has made many accesses.
void Block::count_access(const Access& access) {
  const AtWork at_work{*this};
  if (is_watching_) return watch_access(access);
  const unsigned in_a_turn = scheduler_.accesses_in_a_turn();
  accesses_left_ = in_a_turn;
  accesses_ += in_a_turn;
  if (instrumented_) count_early(scheduler_.current());
  if (accesses_ >= watch_after_) begin_watch(nullptr);
  scheduler_.give_way();
}

bool Block::in_arguments(const Access& access) const {
  const std::span<const std::byte> arguments = launch_->kernel.arguments;
  return static_cast<std::size_t>(access.address - arguments.data()) < arguments.size();
}

}  // namespace __emulated
