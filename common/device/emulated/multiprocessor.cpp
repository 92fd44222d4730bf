#include "device/emulated/multiprocessor.hpp"

#include <span>

#include "device/emulated/device.hpp"
#include "device/emulated/grid.hpp"
#include "device/emulated/lanes.hpp"

namespace reduction::emulated {
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

/// Stacks that begin at different cache sets: at equal ones their tops would evict each other.
std::span<std::byte> Multiprocessor::stack_of(unsigned thread) const {
  const std::size_t offset = thread % 16 * 256;
  return {stacks_.begin() + thread * stack_bytes, stack_bytes - offset};
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
  // Control comes back when no thread is ready: all have left the kernel, one has failed, or they are stuck.
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
    instrumentation_.end_block(findings_);
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
  barrier_is_divergent_ = arrived_any_ = has_turn_ = failed_ = false;
  releases_ = 0;
  accesses_ = 0;
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
    thread.where = {};
    if (!thread.fiber) {
      thread.fiber.prepare(stack_of(i), [this, &thread]() -> Fiber& { return live_as(thread); });
    }
    ready_.push(i);
  }
  accesses_left_ = ready_.accesses_in_a_turn();
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

Witness Multiprocessor::witness(const Thread& thread, const char* deed) const {
  return {describe_threads({thread.index}), block_, deed, nullptr, thread.where};
}

}  // namespace reduction::emulated
