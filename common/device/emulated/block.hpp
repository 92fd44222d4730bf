#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/emulated/block_recorder.hpp"
#include "device/emulated/block_turns.hpp"
#include "device/emulated/counters.hpp"
#include "device/emulated/fence_order.hpp"
#include "device/emulated/global_races.hpp"
#include "device/emulated/happens_before.hpp"
#include "device/emulated/lanes.hpp"
#include "device/emulated/launch_config.hpp"
#include "device/emulated/memory.hpp"
#include "device/emulated/report.hpp"
#include "device/emulated/scheduler.hpp"
#include "device/emulated/shared_races.hpp"
#include "device/emulated/source_location.hpp"
#include "device/emulated/warp_instructions.hpp"

namespace reduction::emulated {

/// What a block has to know of its launch.
struct LaunchContext {
  const LaunchConfig& config;
  const KernelCall& kernel;
  Schedule schedule;
  bool instrumented;   ///< whether accesses are counted and checked
  std::size_t number;  ///< of the launch
  BlockTurns& turns;
  GridRaces& races;
  BlockTrace* trace;  ///< of one of the blocks, or nullptr
};

/// What a block has done, and what it has done wrong.
struct BlockOutcome {
  Counters counters;
  std::vector<FaultRecord> faults;
  std::exception_ptr exception;  ///< what a thread of the kernel has thrown
};

/// One host thread's stand-in for a multiprocessor: it runs one block at a time. Aligned so that two host threads share
/// no cache line.
class alignas(128) Block {
 public:
  /// The calling host thread's.
  static Block& local();

  /// The one whose kernel the calling host thread is running, or nullptr outside of kernels and while the device itself
  /// works for it.
  static Block* running() { return running_; }

  Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Runs every thread of block number `number` to its end, or the block to its first fault.
  BlockOutcome run(const LaunchContext& launch, std::size_t number);

  // What the running thread asks for. cuda.hpp says what each does.
  bool barrier(SourceLine where, bool predicate, const void* call_site);
  void warp_barrier(unsigned mask, SourceLine where, const void* call_site);
  void shuffle(Shuffle kind, unsigned mask, int operand, int width, void* value, std::size_t bytes,
               SourceLine where, const void* call_site);
  void fence(FenceScope scope, const void* call_site);
  void* dynamic_shared_memory() const { return shared_.dynamic(); }
  void* shared_variable(const void* name, std::size_t bytes);

  /// The running thread is about to access memory. Ends the block if it may not.
  void access(const Access& access);

  /// Ends the block for a misaligned access, or because too little is left of the running thread's stack.
  [[noreturn]] void refuse(const Access& access);

  /// The running thread is about to update memory atomically. Holds it until no other block can do so: atomic operations
  /// happen in the order of blocks, so even a floating-point sum is always the same. \param expected  of a compare-and-swap,
  /// the value where it stores another one; else nullptr.
  void begin_atomic(const void* address, std::size_t bytes, const void* call_site, const void* expected);

 private:
  /// While the device works for a kernel, hooks mean nothing: where the program has two copies of an inline function, the
  /// linker may have taken that of a kernel's file, with hooks, for the device, too. Never one inside another.
  class AtWork {
   public:
    explicit AtWork(Block& block) : block_{block} { running_ = nullptr; }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    ~AtWork() { running_ = &block_; }

   private:
    Block& block_;
  };

  /// What a thread has last waited for; it may have gone on since.
  enum class State : unsigned char { started, at_block_barrier, at_warp_barrier, at_shuffle, finished };

  struct Thread {
    SourceLine where;  ///< the barrier or shuffle at which it waits
    State state = State::started;
  };

  /// What a thread waits for at a warp barrier or a shuffle.
  struct Waiting {
    unsigned mask = 0;  ///< the lanes
    Shuffle shuffle{};  ///< at a shuffle, which one,
    const void* call_site = nullptr;
    unsigned source_lane = 0;  ///< whose value it asks for,
    std::size_t bytes = 0;     ///< of how many bytes, which it brings and which it gets
    alignas(largest_access) std::array<std::byte, largest_access> brought{};
    alignas(largest_access) std::array<std::byte, largest_access> received{};
  };

  /// The lanes of a warp, one bit each.
  struct Warp {
    unsigned lanes = ~0U;  ///< that the block has; its last warp may be a part of one
    unsigned finished = 0;
    unsigned waiting = 0;   ///< at a warp barrier or a shuffle
    unsigned releases = 0;  ///< barriers and shuffles that it has passed
  };

  void prepare(const LaunchContext& launch, std::size_t number);
  void end_trace();
  void run_thread();
  void finish(unsigned thread);
  [[noreturn]] void stop_for_overflow(const void* call_site);

  // Barriers and shuffles, in barriers.cpp.
  void wait_for_lanes(State state, unsigned mask, SourceLine where, const void* call_site);
  void release_complete_group(unsigned member);
  void record_meeting(unsigned member, unsigned group);
  void hand_over_values(unsigned member, unsigned group);
  void note_release(unsigned& releases);
  void require_stack();
  FaultRecord stall() const;
  std::string missing_lanes() const;
  ThreadAction action_at_barrier(unsigned thread, std::string action) const;
  Warp& warp_of(unsigned thread) { return warps_[thread / warp_size]; }
  static unsigned in_warp_of(unsigned member, unsigned lane) { return member / warp_size * warp_size + lane; }

  // Memory.
  bool access_elsewhere(const Access& access);
  bool in_arguments(const Access& access) const;
  void note_shared(const Access& access);
  void note_global(const Access& access);  ///< to the last buffer
  void count_access(const void* call_site);
  void end_interval();
  void count_warp(unsigned warp);
  BlockRecorder* recorder() { return recorder_ ? &*recorder_ : nullptr; }
  FaultRecord fault_of(const Access& access, Fault fault, std::string memory) const;
  FaultRecord stray(const Access& access) const;  ///< an access out of bounds

  static inline thread_local constinit Block* running_ = nullptr;

  Scheduler scheduler_;
  SharedMemory shared_;
  std::vector<Thread> threads_;
  std::vector<Waiting> waiting_;
  std::vector<Warp> warps_;

  const LaunchContext* launch_ = nullptr;
  std::size_t number_ = 0;
  bool instrumented_ = true;
  std::size_t launch_number_ = 0;
  unsigned size_ = 0;      ///< threads of the block
  unsigned finished_ = 0;  ///< threads that have left the kernel
  unsigned arrived_ = 0;   ///< threads that wait at the block barrier
  SourceLine barrier_;     ///< where the first of them waits
  bool barrier_is_divergent_ = false;
  bool arrived_any_ = false;    ///< whether a thread has brought a true predicate to it,
  bool released_any_ = false;   ///< and to the last one that all have passed
  bool has_turn_ = false;       ///< no lower block is running, so that this one may run atomics
  std::size_t accesses_ = 0;    ///< accesses of the block since threads of it last met
  unsigned releases_ = 0;       ///< block barriers that the block has passed
  unsigned accesses_left_ = 0;  ///< that the running thread may make before another has its turn
  Buffer* last_buffer_ = nullptr;

  FaultLog faults_;
  std::exception_ptr exception_;
  Counters counters_;
  HappensBefore order_;
  FenceOrder fences_;
  WarpInstructionLog instructions_;
  std::optional<BlockRecorder> recorder_;  ///< of a block that is traced
  SharedRaces shared_races_;
  BlockRaces global_races_;
};

/// Inline, so that a hook that knows operation and size has little left to do.
inline void Block::access(const Access& access) {
  if (scheduler_.on_own_stack(access.address)) return;
  // A GPU accesses 2, 4, 8 or 16 bytes only where the address is a multiple of as many.
  const bool is_misaligned = (reinterpret_cast<std::uintptr_t>(access.address) & (access.bytes - 1)) != 0;
  if (is_misaligned || scheduler_.is_stack_short(__builtin_frame_address(0))) refuse(access);
  if (shared_.dynamic_contains(access.address, access.bytes)) {
    if (instrumented_) {
      const AtWork at_work{*this};
      note_shared(access);
    }
  } else if (last_buffer_ != nullptr && last_buffer_->contains(access.address, access.bytes)) {
    if (instrumented_ || access.operation != Operation::load) {
      const AtWork at_work{*this};
      note_global(access);
    }
  } else if (!access_elsewhere(access)) {
    return;
  }
  if (--accesses_left_ == 0) count_access(access.call_site);
}

}  // namespace reduction::emulated
