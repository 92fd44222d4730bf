#include "device/emulated/multiprocessor.hpp"

#include <cstring>
#include <map>
#include <span>
#include <sstream>
#include <utility>

#include "device/emulated/builtin_variables.hpp"
#include "device/emulated/device.hpp"
#include "device/emulated/finding.hpp"
#include "device/emulated/grid.hpp"
#include "device/emulated/lanes.hpp"

namespace reduction::emulated {
namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

/// Thrown through a suspended thread to destroy what it holds, once its block has failed.
struct Unwind {};

/// Stacks that begin at different cache sets: at equal ones their tops would evict each other.
std::span<std::byte> stack_of(unsigned thread, const Mapping& stacks) {
  const std::size_t offset = thread % 16 * 256;
  return {stacks.begin() + thread * stack_bytes, stack_bytes - offset};
}

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

/// "threads 0-31 and 40": ascending numbers as ranges.
std::string describe_threads(const std::vector<unsigned>& numbers) {
  std::ostringstream text;
  text << (numbers.size() == 1 ? "thread " : "threads ");
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    if (i != 0) text << ", ";
    text << numbers[i];
    if (last != i) text << '-' << numbers[last];
    i = last + 1;
  }
  return std::move(text).str();
}

}  // namespace

Multiprocessor& Multiprocessor::local() {
  static thread_local Multiprocessor multiprocessor;
  return multiprocessor;
}

Multiprocessor::Multiprocessor()
    : stacks_{properties().threads_per_block * stack_bytes},
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
      // The block has failed, and failure_ says why.
    } catch (...) {
      failure_ = std::current_exception();
    }
    finish(self);
    run_next();
  }
  current_ = nullptr;
  return scheduler_;
}

void Multiprocessor::run(Grid& grid, std::size_t block) {
  prepare(grid, block);
  running_ = this;
  run_next();
  // Control comes back when no thread is ready: all have left the kernel, one has failed, or they are stuck.
  if (!failure_ && finished_ != size_) failure_ = std::make_exception_ptr(KernelFinding{describe_stall()});
  if (failure_) unwind();
  running_ = nullptr;

  ++counters_.blocks;
  counters_.threads += size_;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Multiprocessor::prepare(Grid& grid, std::size_t block) {
  grid_ = &grid;
  block_ = block;
  size_ = grid.config().block;
  finished_ = arrived_ = 0;
  barrier_is_divergent_ = false;
  has_turn_ = false;
  last_buffer_ = nullptr;
  ::gridDim = {static_cast<unsigned>(grid.config().grid), 1, 1};
  ::blockDim = {size_, 1, 1};
  ::blockIdx = {static_cast<unsigned>(block), 0, 0};

  warps_.assign((size_ + warp_size - 1) / warp_size, Warp{});
  if (const unsigned rest = size_ % warp_size; rest != 0) warps_.back().lanes = bit_of(rest) - 1;
  ready_.clear();
  for (unsigned i = 0; i < size_; ++i) {
    Thread& thread = threads_[i];
    thread.state = State::not_started;
    if (!thread.fiber)
      thread.fiber.prepare(stack_of(i, stacks_), [this, &thread]() -> Fiber& { return live_as(thread); });
    ready_.push(i);
  }
}

/// Suspends what is running here and continues the next thread that is ready; the scheduler if there is none.
void Multiprocessor::run_next() { switch_to(ready_.empty() || failure_ ? nullptr : &threads_[ready_.pop()]); }

void Multiprocessor::switch_to(Thread* next) {
  Fiber& from = current_ != nullptr ? current_->fiber : scheduler_;
  Fiber& to = next != nullptr ? next->fiber : scheduler_;
  current_ = next;
  if (next != nullptr) ::threadIdx.x = next->index;
  if (&from != &to) from.switch_to(to);
}

/// Lets other threads run until something has made this one ready again.
void Multiprocessor::suspend(Thread& self) {
  run_next();
  if (failure_) throw Unwind{};
  self.state = State::running;
}

void Multiprocessor::finish(Thread& self) {
  self.state = State::finished;
  ++finished_;
  Warp& warp = warp_of(self);
  warp.finished |= bit_of(self.index % warp_size);
  // Lanes that waited for this one need it no longer.
  for (const unsigned lane : lanes_of(warp.waiting)) {
    const Thread& other = thread_at(self, lane);
    if (warp.waiting & bit_of(lane)) release_complete_group(other);
  }
}

/// Destroys what the threads of a failed block hold.
void Multiprocessor::unwind() {
  for (unsigned i = 0; i < size_; ++i) {
    if (threads_[i].state == State::not_started || threads_[i].state == State::finished) continue;
    switch_to(&threads_[i]);
  }
}

void Multiprocessor::block_barrier(SourceLine where) {
  Thread& self = *current_;
  self.state = State::at_block_barrier;
  self.where = where;
  if (arrived_ == 0) barrier_ = where;
  // Threads at different barriers never go on: the block stalls there, and the stall is reported.
  if (!(where == barrier_)) barrier_is_divergent_ = true;
  if (++arrived_ == size_ && !barrier_is_divergent_) {
    arrived_ = 0;
    ++counters_.block_barriers;
    for (unsigned i = 0; i < size_; ++i)
      ready_.push(i);
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
  if ((mask & own) == 0) {
    std::ostringstream text;
    text << to_string(where) << ": thread " << self.index << " of block " << block_
         << " is not in the mask with which it calls.";
    throw KernelFinding{text.str()};
  }
  self.state = state;
  self.mask = mask & warp.lanes;
  self.where = where;
  warp.waiting |= own;
  release_complete_group(self);
  suspend(self);
}

/// Makes the lanes that wait for each other with `member` ready if the last of them has arrived.
void Multiprocessor::release_complete_group(const Thread& member) {
  Warp& warp = warp_of(member);
  const unsigned group = member.mask & ~warp.finished;
  if ((warp.waiting & group) != group) return;
  const auto lanes = lanes_of(group);
  for (const unsigned lane : lanes) {
    const Thread& other = thread_at(member, lane);
    const bool same =
        other.state == member.state && other.mask == member.mask && other.shuffle == member.shuffle;
    if (!same) return;
  }
  warp.waiting &= ~group;
  if (member.state == State::at_shuffle) {
    hand_over_values(member, group);
    ++counters_.shuffles;
  } else {
    ++counters_.warp_barriers;
  }
  for (const unsigned lane : lanes)
    ready_.push(thread_at(member, lane).index);
}

/// Gives each lane of a complete shuffle its value, now: a lane that runs on may bring the next one.
void Multiprocessor::hand_over_values(const Thread& member, unsigned group) {
  for (const unsigned lane : lanes_of(group)) {
    Thread& receiver = thread_at(member, lane);
    if ((group & bit_of(receiver.source_lane)) == 0) {
      std::ostringstream text;
      text << to_string(receiver.where) << ": thread " << receiver.index << " of block " << block_
           << " shuffles from lane " << receiver.source_lane << ", which takes no part.";
      throw KernelFinding{text.str()};
    }
    receiver.received = thread_at(member, receiver.source_lane).brought;
  }
}

void Multiprocessor::begin_atomic(const void* address, std::size_t bytes) {
  check_access("atomically updates", address, bytes);
  if (!in_shared_memory(address, bytes) && !has_turn_) {
    grid_->wait_for_turn(block_);
    has_turn_ = true;
  }
  ++counters_.atomics;
}

void Multiprocessor::check_access(const char* verb, const void* address, std::size_t bytes) {
  const std::byte* const begin = static_cast<const std::byte*>(address);
  if (on_stack(begin) || in_shared_memory(begin, bytes)) return;
  if (last_buffer_ != nullptr && last_buffer_->contains(begin, bytes)) return;
  const Buffer* const buffer = global_memory().nearest(begin);
  if (buffer != nullptr && buffer->contains(begin, bytes)) {
    last_buffer_ = buffer;
    return;
  }
  if (!in_arguments(begin)) throw KernelFinding{describe_stray(verb, begin, bytes, buffer)};
}

bool Multiprocessor::on_stack(const std::byte* address) const {
  return static_cast<std::size_t>(address - stacks_.begin()) < stacks_.bytes();
}

bool Multiprocessor::in_shared_memory(const void* address, std::size_t bytes) const {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - shared_begin());
  const std::size_t available = grid_->config().shared_bytes;
  return offset < available && bytes <= available - offset;
}

bool Multiprocessor::in_arguments(const std::byte* address) const {
  const std::span<const std::byte> arguments = grid_->kernel().arguments;
  return static_cast<std::size_t>(address - arguments.data()) < arguments.size();
}

std::string Multiprocessor::describe_stray(const char* verb, const std::byte* address, std::size_t bytes,
                                           const Buffer* nearest) const {
  std::ostringstream text;
  text << "Thread " << current_->index << " of block " << block_ << ' ' << verb << ' ' << bytes
       << " bytes out of bounds: ";
  const auto place = [&](const std::byte* begin, std::size_t size) {
    if (address < begin) {
      text << begin - address << " bytes before the " << size;
    } else {
      text << address - begin << " bytes into the " << size;
    }
  };
  if (static_cast<std::size_t>(address - shared_.begin()) < shared_.bytes()) {
    place(shared_begin(), grid_->config().shared_bytes);
    text << " bytes of the block's shared memory.";
  } else if (nearest != nullptr) {
    place(nearest->begin, nearest->bytes);
    text << " bytes of a global buffer.";
  } else {
    text << "no memory of the device is near.";
  }
  return std::move(text).str();
}

std::string Multiprocessor::describe_stall() const {
  // Threads by what they wait for: the same words for the same fault, in whatever order they came there.
  std::map<std::string, std::vector<unsigned>> places;
  for (unsigned i = 0; i < size_; ++i) {
    const Thread& thread = threads_[i];
    switch (thread.state) {
      case State::at_block_barrier:
        places["wait at __syncthreads() in " + to_string(thread.where)].push_back(i);
        break;
      case State::at_warp_barrier:
        places["wait at __syncwarp() in " + to_string(thread.where)].push_back(i);
        break;
      case State::at_shuffle: places["wait at a shuffle in " + to_string(thread.where)].push_back(i); break;
      default: places["have left the kernel"].push_back(i); break;
    }
  }
  std::ostringstream text;
  text << "Block " << block_ << " cannot go on, its threads have parted at a barrier:";
  const char* separator = " ";
  for (const auto& [place, threads] : places) {
    text << separator << describe_threads(threads) << ' ' << place;
    separator = "; ";
  }
  text << '.';
  return std::move(text).str();
}

}  // namespace reduction::emulated
