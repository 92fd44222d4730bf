#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "device/emulated/builtin_variables.hpp"
#include "device/emulated/counters.hpp"
#include "device/emulated/evidence.hpp"
#include "device/emulated/fiber.hpp"
#include "device/emulated/global_memory.hpp"
#include "device/emulated/instrumentation.hpp"
#include "device/emulated/intrinsics.hpp"
#include "device/emulated/mapping.hpp"
#include "device/emulated/operation.hpp"
#include "device/emulated/ready_threads.hpp"
#include "device/emulated/source_line.hpp"

namespace reduction::emulated {

class Grid;

/// One host thread's stand-in for an SM: it runs one block at a time, each CUDA thread of it on a fiber.
/// Fibers and their stacks outlive the block and serve the next. A fiber runs until it has to wait at a
/// barrier or ends, then the next thread that is ready continues. Aligned so that two host threads share no
/// cache line.
class alignas(128) Multiprocessor {
 public:
  /// The calling host thread's multiprocessor.
  static Multiprocessor& local();

  /// The multiprocessor whose block the calling host thread is running, or nullptr outside of kernels.
  static Multiprocessor* running() { return running_; }

  Multiprocessor(const Multiprocessor&) = delete;
  Multiprocessor& operator=(const Multiprocessor&) = delete;
  ~Multiprocessor();

  /// Runs block number `block` of the grid to its end and returns what it has done wrong. Throws what one of
  /// its threads throws.
  std::vector<Evidence> run(Grid& grid, std::size_t block);

  /// What the blocks since the last call did.
  Counters take_counters() { return std::exchange(counters_, {}); }

  // What the running thread asks for; intrinsics.hpp and access.hpp say what each does.
  bool block_barrier(SourceLine where, bool predicate);
  void warp_barrier(unsigned mask, SourceLine where);
  void shuffle(Shuffle kind, unsigned mask, int operand, int width, void* value, std::size_t bytes,
               SourceLine where);
  void* shared_memory() const { return shared_begin(); }
  void begin_atomic(const void* address, std::size_t bytes, const void* call_site);
  void access(const Access& access);
  void fence() {
    if (instrumented_) instrumentation_.fence(current_->index);
  }

 private:
  enum class State : unsigned char {
    not_started,
    running,
    at_block_barrier,
    at_warp_barrier,
    at_shuffle,
    finished
  };

  struct Thread {
    unsigned index = 0;
    State state = State::not_started;
    SourceLine where;          ///< the barrier or shuffle at which it waits
    unsigned mask = 0;         ///< the lanes for which it waits there
    Shuffle shuffle{};         ///< and, at a shuffle, which one,
    unsigned source_lane = 0;  ///< whose value it asks for,
    std::size_t bytes = 0;     ///< of how many bytes, which it brings and which it gets
    alignas(largest_access) std::array<std::byte, largest_access> brought{};
    alignas(largest_access) std::array<std::byte, largest_access> received{};
    Fiber fiber;
  };

  /// Thrown through a thread to destroy what it holds, once its block has failed.
  struct Unwind {};

  /// The lanes of a warp, one bit each.
  struct Warp {
    unsigned lanes = ~0U;  ///< that the block has; its last warp may be a part of one
    unsigned finished = 0;
    unsigned waiting = 0;   ///< at a warp barrier or a shuffle
    unsigned releases = 0;  ///< barriers and shuffles that it has passed
  };

  Multiprocessor();
  std::span<std::byte> stack_of(unsigned thread) const;
  Fiber& live_as(Thread& self);
  void prepare(Grid& grid, std::size_t block);
  void run_next();
  void switch_to(Thread* next);
  void suspend(Thread& self);
  void give_way(Thread& self);
  void finish(Thread& self);
  void unwind();
  [[noreturn]] void abort_block(Evidence evidence);

  void wait_for_lanes(Thread& self, State state, unsigned mask, SourceLine where);
  void release_complete_group(const Thread& member);
  void hand_over_values(const Thread& member, unsigned group);
  void note_release(unsigned& releases);
  Warp& warp_of(const Thread& thread) { return warps_[thread.index / warp_size]; }
  Thread& thread_at(const Thread& member, unsigned lane) {
    return threads_[member.index / warp_size * warp_size + lane];
  }

  std::byte* shared_begin() const { return shared_.begin() + shared_margin; }
  bool on_own_stack(const std::byte* address) const;
  bool in_shared_memory(const std::byte* address, std::size_t bytes) const;
  bool in_arguments(const std::byte* address) const;
  Buffer* find_buffer(const Access& access);
  void count_access(Thread& self, const void* call_site);
  Evidence misaligned(const Access& access) const;
  Evidence stray(const Access& access) const;
  Evidence stall() const;
  Witness witness(const Thread& thread, const char* deed) const;

  static inline thread_local constinit Multiprocessor* running_ = nullptr;

  Mapping stacks_;
  Mapping shared_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  ReadyThreads ready_;
  Fiber scheduler_;  ///< the host thread itself: gets control when no thread is ready
  Thread* current_ = nullptr;

  Grid* grid_ = nullptr;
  std::size_t block_ = 0;
  unsigned size_ = 0;  ///< threads of the block
  std::size_t shared_bytes_ = 0;
  unsigned finished_ = 0;  ///< threads that have left the kernel
  unsigned arrived_ = 0;   ///< threads that wait at the block barrier
  SourceLine barrier_;     ///< where the first of them waits
  bool barrier_is_divergent_ = false;
  bool arrived_any_ = false;   ///< whether a thread has brought a true predicate to it,
  bool released_any_ = false;  ///< and to the last one that all have passed
  bool has_turn_ = false;      ///< no lower block is running, so that this one may run atomics
  bool failed_ = false;        ///< its threads are to be unwound
  bool closing_ = false;
  std::exception_ptr exception_;  ///< what a thread of the kernel has thrown
  CaseFile findings_;

  bool instrumented_ = true;
  Instrumentation instrumentation_;
  std::size_t accesses_ = 0;    ///< accesses of the block since threads of it last met
  unsigned releases_ = 0;       ///< block barriers that the block has passed
  unsigned accesses_left_ = 0;  ///< that the running thread may make before another has its turn
  Buffer* last_buffer_ = nullptr;
  Counters counters_;

  /// Bytes of each thread's stack. It takes the kernel's own calls, and what counts a warp's accesses; AddressSanitizer
  /// makes their frames larger.
#ifdef REDUCTION_ADDRESS_SANITIZER
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;
#else
  static constexpr std::size_t stack_bytes = std::size_t{64} << 10;
#endif

  /// Bytes on either side of a block's shared memory where an access is known to be a stray one.
  static constexpr std::size_t shared_margin = std::size_t{64} << 10;
};

/// Suspends what is running here and continues the next thread that is ready; the scheduler if there is none.
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

}  // namespace reduction::emulated
