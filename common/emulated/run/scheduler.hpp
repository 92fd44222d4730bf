#pragma once
#include <signal.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "emulated/memory/memory.hpp"
#include "emulated/run/execution_configuration.hpp"
#include "emulated/run/fiber.hpp"
#include "emulated/run/schedule.hpp"
#include "emulated/run/splitmix64.hpp"

/// CUDA's built-in variables, as the device sets them. Each host thread has its own, which follow the CUDA thread that it
/// is running. Kernels see the same symbols as constants (cuda.hpp): for the compiler, to read a constant is no access to
/// memory.
namespace __emulated::builtin {

extern thread_local constinit uint3 threadIdx asm("__emulated_threadIdx");
extern thread_local constinit uint3 blockIdx asm("__emulated_blockIdx");
extern thread_local constinit uint3 blockDim asm("__emulated_blockDim");
extern thread_local constinit uint3 gridDim asm("__emulated_gridDim");

}  // namespace __emulated::builtin

namespace __emulated {

class Block;

/// The threads of a block that can run on, and whose turn it is. Each is in it at most once.
class ReadyThreads {
 public:
  static constexpr unsigned capacity = 1024;

  void begin_block(const Schedule& schedule, std::size_t block) {
    first_ = last_ = 0;
    order_ = schedule.order;
    random_ = schedule.seed ^ (block * 0xbf58476d1ce4e5b9);
  }

  bool empty() const { return first_ == last_; }

  /// Adds a thread that has just become ready. Of several, the lowest has to come first.
  void push(unsigned thread) { at(last_++) = static_cast<std::uint16_t>(thread); }

  /// Adds all threads below `count`, where there are no others.
  void push_all(unsigned count) {
    first_ = 0;
    last_ = count;
    std::iota(threads_.begin(), threads_.begin() + count, std::uint16_t{0});
  }

  /// Adds a thread that is to have the next turn, unless chance decides.
  void push_first(unsigned thread) {
    if (order_ == Order::ascending) {
      at(--first_) = static_cast<std::uint16_t>(thread);
    } else {
      push(thread);
    }
  }

  /// Adds a thread that is to have its turn after all others.
  void push_behind(unsigned thread) {
    if (order_ == Order::descending) {
      at(--first_) = static_cast<std::uint16_t>(thread);
    } else {
      push(thread);
    }
  }

  unsigned pop() {
    if (order_ == Order::descending) return at(--last_);
    if (order_ == Order::random) std::swap(at(first_), at(first_ + random() % (last_ - first_)));
    return at(first_++);
  }

  /// The thread that comes next where the order is ascending.
  unsigned next_ascending() { return at(first_); }

  /// Accesses that a thread may make before it loses its turn.
  unsigned accesses_in_a_turn() {
    // A thread that spins on a word another one has to write must not spin forever.
    return order_ == Order::random ? 1 + random() % 8 : 256;
  }

 private:
  std::uint16_t& at(unsigned position) { return threads_[position % capacity]; }

  /// The generator splitmix64, its high half.
  unsigned random() { return static_cast<unsigned>(mixed(random_ += 0x9e3779b97f4a7c15) >> 32); }

  std::array<std::uint16_t, capacity> threads_{};
  unsigned first_ = 0;
  unsigned last_ = 0;
  Order order_ = Order::ascending;
  std::uint64_t random_ = 0;
};

/// What a thread has done that a signal tells of.
enum class Crash {
  stack_overflow,  ///< used up its stack
  stray_local,     ///< left it at the other end, as a local array does
  division,        ///< divided without a quotient
  call,            ///< called what is no function
  illegal,         ///< come to an instruction that there is not, as a trap is,
  stray            ///< or to memory that there is not
};

/// Lets the threads of one block after the other take turns on the calling host thread, each on a fiber. A thread runs
/// until it suspends itself or ends, then the next one that is ready continues. Fibers and their stacks outlive a block
/// and serve the next.
class Scheduler {
 public:
  /// \param threads  that a block may have.
  Scheduler(Block& block, unsigned threads);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  /// Makes all threads of a block of this shape ready.
  void begin_block(const uint3& shape, const Schedule& schedule, std::size_t block);

  /// Runs the threads of the block until none is ready, or pause() or stop() is called.
  void run();

  /// The thread that is running: x + y * shape.x + z * shape.x * shape.y.
  unsigned current() const { return current_; }

  /// Lets others run until something has made the running thread ready again.
  void suspend() { run_next(); }

  /// The running thread has come to its end: its fiber waits for its next block.
  void await_next_block() {
    is_parked_[current_] = true;
    run_next();
  }

  /// Lets all others that are ready run before the running thread goes on.
  void give_way() {
    ready_.push_behind(current_);
    suspend();
  }

  /// Ends run(). The running thread goes on with the next one.
  void pause() {
    is_paused_ = true;
    ready_.push_first(current_);
    switch_to(host_);
  }

  /// Whether run() has come to its end by stop().
  bool is_stopped() const { return is_stopped_; }

  void make_ready(unsigned thread) { ready_.push(thread); }

  /// All threads of a block of so many have been suspended.
  void make_all_ready(unsigned threads) { ready_.push_all(threads); }

  /// Ends run(). No thread of the block goes on: what they hold is dropped, as a GPU drops it.
  [[noreturn]] void stop();

  /// While threads are watched, watch_turn() hears of every turn.
  void set_watched(bool on) { is_watched_ = on; }

  /// While one lives, is_stuck() is called after every so much of the calling host thread's time on a CPU.
  class Ticks {
   public:
    explicit Ticks(std::chrono::nanoseconds tick) { set(tick); }
    Ticks(const Ticks&) = delete;
    Ticks& operator=(const Ticks&) = delete;
    ~Ticks() { set({}); }

   private:
    static void set(std::chrono::nanoseconds tick);
  };

  /// Of a thread that has been suspended: saved registers are among it.
  std::span<const std::byte> stack_in_use(unsigned thread) const {
    return {fibers_[thread].top(), stack_of(thread) + stack_bytes};
  }

  /// Makes the running thread's stack none of its own until its next turn, so that its next access to it is seen.
  void expose_own_stack() { stack_ = nullptr; }
  void cover_own_stack() { stack_ = stack_of(current_); }

  unsigned accesses_in_a_turn() { return ready_.accesses_in_a_turn(); }

  /// Whether the address is on the running thread's stack.
  bool on_own_stack(const void* address) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(address) - stack_) < stack_bytes;
  }

  /// Whether so little is left of the running thread's stack that what counts its accesses may overflow it.
  bool is_stack_short(const void* stack_pointer) const {
    return static_cast<const std::byte*>(stack_pointer) - stack_ < static_cast<std::ptrdiff_t>(stack_reserve);
  }

  /// Bytes of each thread's stack, a guard page and the reserve among them. AddressSanitizer makes frames larger.
#ifdef REDUCTION_ADDRESS_SANITIZER
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
#else
  static constexpr std::size_t stack_bytes = std::size_t{64} << 10;
#endif

 private:
  static constexpr std::size_t stack_reserve = std::size_t{12} << 10;

  void prepare(unsigned thread);
  void require_whole_stack();
  void run_next() {
    if (!has_guard_pages_) require_whole_stack();
    // Of a thread that is watched, registers are to be on its stack: it always gives way to the host.
    const unsigned next = ready_.empty() || is_watched_ ? host_ : ready_.pop();
    if (!ready_.empty()) fibers_[ready_.next_ascending()].prefetch();
    switch_to(next);
  }
  void switch_to(unsigned next);
  std::byte* stack_of(unsigned thread) const { return stacks_.begin() + thread * stack_bytes; }
  /// Without the guard page, which is at its low end.
  std::span<std::byte> usable_stack_of(unsigned thread) const;
  /// The thread whose stack, or guard page, it is on, or host_.
  unsigned thread_at(const void* address) const;
  static void on_crash(int signal, siginfo_t* info, void* context);
  static void on_timer(int signal, siginfo_t* info, void* context);
  void leave_thread(void* context, const void* call_site, void (*leave)());

  static inline thread_local constinit Scheduler* running_ = nullptr;

  Block& block_;
  const bool has_guard_pages_;
  const unsigned host_;  ///< in place of a thread's number: the host thread itself
  Mapping stacks_;
  // Apart from each other, so that a switch touches little memory: all fibers together take more than the first cache.
  std::vector<Fiber> fibers_;  ///< of the threads, and last the host's own
  std::vector<uint3> indices_;
  std::vector<char> is_parked_;  ///< whether the thread's fiber waits for its next block
  unsigned current_ = host_;
  const std::byte* stack_ = nullptr;  ///< the lowest byte of the running thread's
  ReadyThreads ready_;
  uint3 shape_{};
  bool is_watched_ = false;
  bool is_paused_ = false;
  bool is_stopped_ = false;
  Crash crash_{};                    ///< by which a signal has ended the running thread,
  const void* call_site_ = nullptr;  ///< and where
};

inline void Scheduler::switch_to(unsigned next) {
  if (next == current_) return;
  Fiber& from = fibers_[std::exchange(current_, next)];
  builtin::threadIdx = indices_[next];
  stack_ = stack_of(next);
  from.switch_to(fibers_[next]);
}

}  // namespace __emulated
