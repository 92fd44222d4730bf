#include "emulated/run/block.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "emulated/findings/memory_faults.hpp"
#include "emulated/memory/kernel_heap.hpp"
#include "emulated/run/device.hpp"

namespace __emulated {
namespace {

uint3 index_in(const dim3& shape, std::size_t number) {
  return {static_cast<unsigned>(number % shape.x), static_cast<unsigned>(number / shape.x % shape.y),
          static_cast<unsigned>(number / shape.x / shape.y)};
}

uint3 extent_of(const dim3& shape) { return {shape.x, shape.y, shape.z}; }

}  // namespace

Block::Block(unsigned most_threads)
    : scheduler_{*this, most_threads},
      polls_{most_threads},
      observers_{shared_, faults_, most_threads},
      threads_(most_threads),
      waiting_(most_threads),
      exchanges_(most_threads),
      starts_(most_threads),
      copies_{most_threads} {}

// ---- the life of a block ----

void Block::begin(Grid& grid, std::size_t number, PlaceCounts* places) {
  const ExecutionConfiguration& configuration = grid.configuration;
  grid_ = &grid;
  number_ = number;
  size_ = static_cast<unsigned>(count(configuration.block));
  finished_ = arrived_at_grid_ = arrived_ = arrived_true_ = releases_ = 0;
  barrier_is_divergent_ = false;
  named_barriers_.clear();
  told_times_.clear();
  arrivals_.clear();
  copies_.begin_block();
  last_buffer_ = nullptr;
  faults_.take();  // of a block whose end had no memory
  exception_ = nullptr;
  takes_turns_ = grid.blocks.residence().takes_turns && grid.blocks.residence().blocks > 1;
  has_turn_ = false;
  random_ = mixed(grid.settings.schedule.seed ^ (number + 1));
  pauses_ = 0;
  repeats_itself_.reset();
  halt_ = Halt::ended;
  if (launch_number_ != grid.number) {
    shared_.begin_launch(configuration.shared_bytes, grid.most_shared_bytes);
    chains_.begin_launch();
  }
  launch_number_ = grid.number;
  observers_.begin_block(grid, number, size_, places);
  warps_.assign((size_ + warp_size - 1) / warp_size, Warp{});
  if (const unsigned rest = size_ % warp_size; rest != 0) warps_.back().lanes = bit_of(rest) - 1;
  std::fill_n(threads_.begin(), size_, Thread{});
  polls_.begin_block();
  scheduler_.begin_block(extent_of(configuration.block), grid.settings.schedule, number);
  watchdog_.begin_block(grid, number, size_);
}

Halt Block::go_on(unsigned looks) {
  builtin::gridDim = extent_of(grid_->configuration.grid);
  builtin::blockDim = extent_of(grid_->configuration.block);
  builtin::blockIdx = index_in(grid_->configuration.grid, number_);
  repeats_itself_.reset();
  halt_ = Halt::ended;
  do {
    polls_.wake(std::exchange(looks, 0), [this](unsigned thread) { make_ready(thread); });
    scheduler_.run();
    if (scheduler_.is_stopped()) return Halt::ended;
  } while (halt_ == Halt::ended && polls_.is_any_due());
  if (halt_ == Halt::ended && !polls_.sleepers().empty()) halt_ = Halt::waits;
  if (halt_ == Halt::ended && arrived_at_grid_ == size_) halt_ = Halt::meets;
  // No thread is ready: all have left the kernel, or they are stuck.
  if (halt_ == Halt::ended && finished_ != size_ && faults_.empty()) faults_.add(stall());
  if (halt_ != Halt::ended) observers_.give_way();
  if (halt_ == Halt::waits) {
    has_turn_ = false;
    polls_.note_variables([this](unsigned thread) { return hash_of(scheduler_.stack_in_use(thread)); });
  }
  return halt_;
}

BlockOutcome Block::end() {
  const Counters counters = observers_.end_block(finished_ == size_);
  return {counters, faults_.take(), std::exchange(exception_, nullptr)};
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
    grid_->kernel.run_thread(grid_->kernel.arguments.data());
  } catch (...) {
    running_ = nullptr;
    exception_ = std::current_exception();
  }
  running_ = nullptr;
  if (exception_) scheduler_.stop();
  finish(scheduler_.current());
}

void Block::finish(unsigned thread) {
  observers_.exit(thread);
  threads_[thread].state = State::finished;
  ++finished_;
  Warp& warp = warp_of(thread);
  warp.finished |= bit_of(thread % warp_size);
  stop_lane(thread);
  // Lanes that waited for this one need it no longer.
  for (const unsigned lane : lanes_of(warp.waiting)) {
    if ((warp.waiting & bit_of(lane)) != 0) release_complete_group(in_warp_of(thread, lane));
  }
  release_if_stopped(thread);
  watchdog_.thread_ends();
}

// A fault ends the block from within one of its threads. Nothing is thrown: the compiler takes for granted that an access
// to memory throws nothing, and kernels have functions that may not. Whoever calls scheduler_.stop() holds nothing by then.

void Block::stop_for_crash(Crash how, const void* call_site) {
  running_ = nullptr;
  switch (how) {
    case Crash::stack_overflow:
      fail(Fault::stack_overflow, "", "has used up its stack", call_site,
           "call less deeply, or make local arrays smaller: a thread has 64 KiB here");
    case Crash::stray_local:
      fail(Fault::out_of_bounds, "", "accesses memory beside its local variables", call_site,
           "check the index before the access, or make the array larger");
    case Crash::division:
      fail(Fault::undefined_arithmetic, "", "divides by 0, or the least integer by -1", call_site,
           "look at the divisor first: a GPU goes on, with a value that nobody should use");
    case Crash::call:
      fail(Fault::invalid_call, "", "calls what is no function", call_site,
           "look at the pointer, or at the object whose virtual function it calls: null, or never written");
    case Crash::illegal: fail(Fault::trap, "", "comes to an illegal instruction", call_site, "");
    case Crash::stray: break;
  }
  fail(Fault::out_of_bounds, "", "accesses memory that is not there", call_site,
       "look at the pointer, and at the index");
}

/// The running thread is about to look at a word, which others may have to change first.
void Block::look(const Access& access) {
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  if (polls_.is_in_vain(thread, access, watchdog_.accesses())) {
    polls_.sleep(thread);
    stop_lane(thread);
    suspend(thread);
  }
  polls_.look();
}

void Block::take_turn() {
  while (!has_turn_) {
    has_turn_ = grid_->blocks.take_turn(number_);
    if (!has_turn_) halt(Halt::asks);
  }
}

/// Where blocks take turns: at atomic operations, and by chance at other accesses if their order is random.
void Block::let_others_run(bool at_atomic) {
  if (!takes_turns_) return;
  const bool is_random = grid_->settings.schedule.order == Order::random;
  if (!is_random && (!at_atomic || grid_->settings.schedule.order == Order::ascending)) return;
  // A block that has had many turns has them less often: each is a part of its own for those who look on.
  const unsigned rarer = pauses_ < 512 ? 1 : 64;
  const unsigned one_in = rarer * (!is_random ? 1 : at_atomic ? 8 : 64);
  if (mixed(random_ += 0x9e3779b97f4a7c15) % one_in != 0) return;
  ++pauses_;
  halt(Halt::pauses);
}

std::uint64_t Block::awaited() const {
  std::uint64_t hash =
      repeats_itself_ ? mixed(reinterpret_cast<std::uintptr_t>(repeats_itself_->call_site)) : 0;
  for (const Polls::Sleeper& sleeper : sleepers())
    hash = mixed(hash + reinterpret_cast<std::uintptr_t>(sleeper.call_site)) + sleeper.thread + sleeper.value;
  return hash;
}

std::uint64_t Block::state() const {
  std::uint64_t hash = awaited() + repetitions_;
  for (const Polls::Sleeper& sleeper : sleepers())
    hash = mixed(hash + polls_.variables(sleeper.thread));
  return hash;
}

/// A block that has no other to wait for is in an endless loop.
void Block::blame_wait(bool is_for_ever) {
  Accessor waiting = repeats_itself_.value_or(Accessor{});
  if (arrived_at_grid_ == size_) {
    faults_.add(
        {Fault::missed_barrier,
         "",
         {{{0}, number_, "waits at the barrier of the grid", threads_.front().call_site}},
         "every thread of every block has to reach this barrier: no `return` before it, and no condition "
         "around it that only some blocks meet"});
    return;
  }
  for (const Polls::Sleeper& sleeper : sleepers()) {
    if (waiting.call_site == nullptr || sleeper.thread < waiting.thread)
      waiting = {sleeper.thread, sleeper.call_site};
  }
  const Warp& warp = warp_of(waiting.thread);
  const auto polls_there = [&](const Polls::Sleeper& sleeper) {
    return sleeper.thread / warp_size == waiting.thread / warp_size;
  };
  if (warp.waiting == 0 || std::ranges::count_if(sleepers(), polls_there) < 2)
    return watchdog_.blame_wait(waiting, is_for_ever);
  // A lane of which others want something, such as a lock, more likely waits for them than for another block.
  const unsigned wanted = in_warp_of(waiting.thread, static_cast<unsigned>(std::countr_zero(warp.waiting)));
  faults_.add({Fault::deadlock,
               "",
               {{{waiting.thread}, number_, "waits for what no other thread does", waiting.call_site},
                {{wanted}, number_, "waits at " + waits_at(wanted), threads_[wanted].call_site}},
               "if it is a lock, open it before the warp meets: its lanes that still ask for it never come"});
}

bool Block::wait_for_others(const Accessor& reader, bool is_identical) {
  if (!grid_->blocks.has_others()) return false;
  repeats_itself_ = reader;
  if (!is_identical) ++repetitions_;
  halt(Halt::waits);
  return true;
}

void Block::stop_for_time(const void* call_site) {
  running_ = nullptr;
  watchdog_.stop_for_time(call_site);
}

bool Block::is_stuck(const void* instruction) {
  if (running_ != this) return false;
  const AtWork at_work{*this};
  return watchdog_.is_stuck(finished_, instruction);
}

void Block::fail(Fault fault, std::string memory, std::string action, const void* call_site,
                 std::string help) {
  running_ = nullptr;
  faults_.add({fault,
               std::move(memory),
               {{{scheduler_.current()}, number_, std::move(action), call_site}},
               std::move(help)});
  scheduler_.stop();
}

void Block::note(Fault fault, std::string action, const void* call_site, std::string help) {
  grid_->note(
      {fault, "", {{{scheduler_.current()}, number_, std::move(action), call_site}}, std::move(help)});
}

// ---- accesses to memory ----

/// More than can be followed is the launch's failure.
template <typename Look> inline auto Block::follow(Look look) {
  try {
    return look();
  } catch (...) {
    exception_ = std::current_exception();
  }
  scheduler_.stop();
}

template <bool is_shared> inline ObservedAccess Block::observed(const Access& access, unsigned thread) {
  const std::uintptr_t position =
      is_shared ? shared_.offset_of(access.address) : reinterpret_cast<std::uintptr_t>(access.address);
  return {access, thread, is_shared, last_buffer_, position, chain_of(access.function)};
}

template <bool is_shared> void Block::observe(const Access& access) {
  if constexpr (!is_shared) {
    if (!observers_.are_there()) return last_buffer_->mark_written(access.address, access.bytes);
  }
  follow([&] { observers_.access(observed<is_shared>(access, scheduler_.current())); });
}

template <bool is_shared> void Block::order(const Access& access, unsigned thread) {
  follow([&] { observers_.order(observed<is_shared>(access, thread)); });
}

template void Block::observe<true>(const Access& access);
template void Block::observe<false>(const Access& access);
template void Block::order<true>(const Access& access, unsigned thread);
template void Block::order<false>(const Access& access, unsigned thread);
template ObservedAccess Block::observed<true>(const Access& access, unsigned thread);

/// What is neither in dynamic shared memory nor in the buffer of the last access. Returns whether it is memory of the
/// device: what the program itself has is read without a word.
bool Block::access_elsewhere(const Access& access) {
  const AtWork at_work{*this};
  if (watchdog_.is_out_of_time()) stop_for_time(access.call_site);
  scheduler_.cover_own_stack();
  if (scheduler_.on_own_stack(access.address)) return false;
  if (Buffer* const buffer = global_memory().find(access.address, access.bytes)) {
    last_buffer_ = buffer;
    if (copies_.are_under_way()) require_arrived(access);
    if (observers_.are_there() || access.operation != Operation::load) observe<false>(access);
  } else if (access.operation != Operation::load ||
             !(contains(grid_->kernel.arguments, access.address) ||
               global_memory().is_constant(access.address, access.bytes))) {
    stop_for_stray(access);
  } else {
    return false;
  }
  return true;
}

void Block::stop_for_stray(const Access& access) {
  observers_.last_access(scheduler_.current(), access);
  const bool is_local = scheduler_.on_own_stack(access.address);
  faults_.add(stray_access(by_running_thread(access), access, is_local, shared_));
  scheduler_.stop();
}

void Block::refuse(const Access& access) {
  const AtWork at_work{*this};
  if (watchdog_.is_out_of_time()) stop_for_time(access.call_site);
  if (scheduler_.is_stack_short(__builtin_frame_address(0)))
    stop_for_crash(Crash::stack_overflow, access.call_site);
  if (access.operation == Operation::atomic && scheduler_.on_own_stack(access.address))
    stop_for_stray(access);
  observers_.last_access(scheduler_.current(), access);
  faults_.add(misaligned_access(by_running_thread(access), access));
  scheduler_.stop();
}

void Block::leave() {
  const AtWork at_work{*this};
  finish(scheduler_.current());
  scheduler_.suspend();
  __builtin_unreachable();
}

void Block::give_way() {
  const AtWork at_work{*this};
  scheduler_.give_way();
}

std::uint64_t Block::time() {
  constexpr std::uint64_t longest_step = std::uint64_t{1} << 20;
  const AtWork at_work{*this};
  const std::uint64_t accesses = watchdog_.accesses();
  Told& told = told_times_[scheduler_.current()];
  told.step = accesses == told.accesses ? std::min(2 * told.step + 1, longest_step) : 1;
  told.accesses = accesses;
  told.idle += told.step;
  return accesses + told.idle;
}

void Block::fence(FenceScope scope, const void* call_site) {
  const AtWork at_work{*this};
  observers_.fence(scheduler_.current(), scope, call_site);
}

void* Block::allocate(std::size_t bytes) {
  const AtWork at_work{*this};
  return kernel_heap().allocate(bytes);
}

void Block::release(void* memory, const void* call_site) {
  if (memory == nullptr) return;
  const AtWork at_work{*this};
  if (kernel_heap().release(memory)) return;
  fail(Fault::out_of_bounds, "memory that no kernel holds", "releases", call_site,
       "release what `new` or `malloc` has returned in a kernel, once");
}

// What only a thread of the kernel can find out is a wrong launch, too. Whoever calls scheduler_.stop() holds no memory.

void* Block::shared_variable(const SharedDeclaration& declaration, std::size_t bytes) {
  const AtWork at_work{*this};
  return follow([&] { return shared_.static_variable(declaration, bytes); });
}

/// What `__launch_bounds__` has promised the compiler: a GPU has registers for so many threads only.
void Block::require_launch_bounds(unsigned most_threads) {
  const AtWork at_work{*this};
  if (size_ <= most_threads) return;
  follow([&] {
    const std::string kernel = kernel_name(grid_->kernel.entry);
    refuse_launch("a block of " + (kernel.empty() ? "this kernel" : kernel) + " has threads, at most " +
                  std::to_string(most_threads) + " by its __launch_bounds__, not " + std::to_string(size_));
  });
}

void Block::begin_atomic(const void* address, std::size_t bytes, const void* call_site, const void* expected,
                         Operation counted) {
  const auto* const begin = static_cast<const std::byte*>(address);
  Access update{Operation::atomic, begin, bytes, call_site};
  update.only_stores = counted == Operation::store;
  update.is_for_block = std::exchange(next_atomic_is_for_block_, false) && counted != Operation::load;
  {
    const AtWork at_work{*this};
    observers_.call(scheduler_.current());
  }
  scheduler_.cover_own_stack();
  if (scheduler_.on_own_stack(begin)) refuse(update);
  const bool is_global = !shared_.contains(begin, bytes);
  // Now, for once observers have heard of it, it is to happen before others go on.
  if (watchdog_.ends_turn()) end_turn(update);
  if (is_global) {
    const AtWork at_work{*this};
    let_others_run(true);
    take_turn();
  }
  look(update);
  if (is_global && !has_turn_) {  // it has waited
    const AtWork at_work{*this};
    take_turn();
  }
  access(update);
  const AtWork at_work{*this};
  if (!observers_.are_there()) return;
  const bool stores =
      counted != Operation::load && (expected == nullptr || std::memcmp(address, expected, bytes) == 0);
  const unsigned thread = scheduler_.current();
  observers_.atomic(is_global ? observed<false>(update, thread) : observed<true>(update, thread), stores,
                    counted);
}

/// The running thread has made all accesses that it may before another has its turn.
void Block::end_turn(const Access& access) {
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  bool is_shared_by_blocks = false;
  if (watchdog_.is_watching()) {
    is_shared_by_blocks = !shared_.contains(access.address, access.bytes) && last_buffer_ != nullptr &&
                          last_buffer_->contains(access.address, access.bytes) &&
                          std::ranges::none_of(grid_->kernel.inputs, [&](const void* input) {
                            return last_buffer_->contains(static_cast<const std::byte*>(input), 1);
                          });
  } else if (observers_.may_count_early(thread)) {
    observers_.count_early(thread, lanes_going_on(thread / warp_size));
  }
  watchdog_.end_turn(access, is_shared_by_blocks);
  if (!watchdog_.is_watching()) let_others_run(false);  // it is to see a thread in one place
}

/// Returns the lanes that may access memory before their warp meets: those that wait at a barrier of all have made all of
/// their accesses.
unsigned Block::lanes_going_on(unsigned index) const {
  const Warp& warp = warps_[index];
  unsigned going_on = warp.lanes & ~warp.finished;
  for (const unsigned lane : lanes_of(going_on)) {
    const unsigned thread = index * warp_size + lane;
    const bool at_block_barrier =
        threads_[thread].state == State::at_block_barrier && threads_[thread].met == releases_;
    const bool in_whole_warp = (warp.waiting & bit_of(lane)) != 0 && waiting_[thread].mask == warp.lanes;
    if (at_block_barrier || in_whole_warp) going_on &= ~bit_of(lane);
  }
  return going_on;
}

}  // namespace __emulated
