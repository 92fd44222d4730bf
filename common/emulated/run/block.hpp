#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emulated/count/counters.hpp"
#include "emulated/count/warp_instructions.hpp"
#include "emulated/findings/report.hpp"
#include "emulated/findings/source_line.hpp"
#include "emulated/findings/source_location.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/order/fence_order.hpp"
#include "emulated/order/global_races.hpp"
#include "emulated/order/happens_before.hpp"
#include "emulated/order/shared_races.hpp"
#include "emulated/run/block_turns.hpp"
#include "emulated/run/call_chain.hpp"
#include "emulated/run/lanes.hpp"
#include "emulated/run/launch_config.hpp"
#include "emulated/run/loop_watch.hpp"
#include "emulated/run/scheduler.hpp"
#include "emulated/trace/block_recorder.hpp"

namespace __emulated {

/// How the device runs a launch, apart from what the program asks for.
struct LaunchOptions {
  unsigned host_threads;
  Schedule schedule;
  bool instrumented;                    ///< whether accesses are counted and checked
  std::size_t number;                   ///< of the launch
  std::size_t most_shared_bytes;        ///< of a block, static and dynamic ones
  std::chrono::nanoseconds loop_limit;  ///< that a loop may compute for if it seems endless
  BlockTrace* trace;                    ///< of one of its blocks, or nullptr
};

/// What a block has to know of its launch.
struct LaunchContext : LaunchOptions {
  const LaunchConfig& config;
  const KernelCall& kernel;
  std::span<const std::byte> code;  ///< of the program, or library, that has the kernel
  BlockTurns& turns;
  GridRaces& races;
};

/// What a block has done, and what it has done wrong.
struct BlockOutcome {
  Counters counters;
  std::vector<FaultRecord> faults;
  std::exception_ptr exception;  ///< what a thread of the kernel has thrown
};

/// One host thread's stand-in for a multiprocessor: it runs one block at a time. Aligned so that two host threads share
/// no cache line.
class alignas(128) Block : Scheduler::Client {
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

  /// While one lives, a block that the calling host thread runs is ended where a thread of it has computed for so long
  /// without telling the device anything.
  class TimeLimit {
   public:
    explicit TimeLimit(std::chrono::nanoseconds limit) {
      local().scheduler_.set_tick(limit / ticks_of_the_limit);
    }
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;
    ~TimeLimit() { local().scheduler_.set_tick(std::chrono::nanoseconds{0}); }
  };

  // What the running thread asks for. cuda.hpp says what each does.
  /// Returns the number of threads that brought a true predicate.
  unsigned barrier(SourceLine where, bool predicate, Caller from);
  void warp_barrier(unsigned mask, SourceLine where, const void* call_site);
  void shuffle(Shuffle kind, unsigned mask, int operand, int width, void* value, std::size_t bytes,
               SourceLine where, const void* call_site);
  std::uint64_t vote(VoteRule rule, unsigned mask, std::uint64_t value, SourceLine where,
                     const void* call_site);
  unsigned active_lanes(const void* call_site);
  void give_way();
  void fence(FenceScope scope, const void* call_site);
  void* dynamic_shared_memory(const SharedDeclaration& declaration) {
    return shared_.use_dynamic(declaration);
  }
  void* allocate(std::size_t bytes);
  void release(void* memory, const void* call_site);
  void* shared_variable(const SharedDeclaration& declaration, std::size_t bytes);
  void require_launch_bounds(unsigned most_threads);

  /// The running thread is about to access memory. Ends the block if it may not.
  void access(const Access& access);

  /// Ends the block because its running thread says so.
  [[noreturn]] void trap(std::string action, const void* call_site);

  /// Ends the block for a misaligned access, for an atomic one to a local variable, or because too little is left of the
  /// running thread's stack.
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
  enum class State : unsigned char {
    started,
    at_block_barrier,
    at_warp_barrier,
    at_shuffle,
    at_vote,
    at_active_lanes,
    finished
  };

  struct Thread {
    SourceLine where;                 ///< the barrier or shuffle at which it waits,
    const void* call_site = nullptr;  ///< its call,
    std::uint16_t chain = 0;          ///< and of a block barrier the number of the calls that lead there
    State state = State::started;
    unsigned met = 0;  ///< block barriers that the block had passed when it came to one
  };

  /// Two calls of a barrier are two barriers, even on one line.
  static bool at_same_barrier(const Thread& one, const Thread& other) {
    return one.call_site == other.call_site && one.chain == other.chain;
  }

  /// What a thread waits for at a warp barrier or a shuffle.
  struct Waiting {
    unsigned mask = 0;         ///< the lanes
    Shuffle shuffle{};         ///< at a shuffle, which one,
    VoteRule rule{};           ///< and at a vote
    unsigned source_lane = 0;  ///< whose value it asks for,
    std::size_t bytes = 0;     ///< of how many bytes, which it brings and which it gets
    alignas(largest_access) std::array<std::byte, largest_access> brought{};
    alignas(largest_access) std::array<std::byte, largest_access> received{};
  };

  /// The lanes of a warp, one bit each.
  struct Warp {
    unsigned lanes = ~0U;  ///< that the block has; its last warp may be a part of one
    unsigned finished = 0;
    unsigned waiting = 0;   ///< at a warp barrier, a shuffle or a vote
    unsigned stopped = 0;   ///< until something makes them ready, or for good
    unsigned asking = 0;    ///< those of them that call __activemask()
    unsigned releases = 0;  ///< barriers and shuffles that it has passed
  };

  void prepare(const LaunchContext& launch, std::size_t number);
  std::exception_ptr above_launch_bounds(unsigned most_threads) const;
  void end_trace();
  [[noreturn]] void run_threads() override;
  void run_thread();
  void finish(unsigned thread);
  [[noreturn]] void stop_for_overflow(const void* call_site) override;

  // Barriers and shuffles, in barriers.cpp.
  void wait_for_lanes(State state, unsigned mask, SourceLine where, const void* call_site);
  void release_complete_group(unsigned member);
  static bool is_same_call(State state, const Waiting& one, const Waiting& other);
  void stop_lane(unsigned thread) { warp_of(thread).stopped |= bit_of(thread % warp_size); }
  void make_ready(unsigned thread);
  void release_block(const void* call_site);
  void release_if_stopped(unsigned member) {
    const Warp& warp = warp_of(member);
    if (warp.stopped == warp.lanes && warp.asking != 0) release_active_lanes(member);
  }
  void release_active_lanes(unsigned member);
  void record_meeting(unsigned member, unsigned group);
  void hand_over_values(unsigned member, unsigned group);
  void hand_over_votes(unsigned member, unsigned group);
  void note_release(unsigned& releases);
  void require_stack();
  /// What a thread takes from a barrier or a shuffle.
  void note_value(std::span<const std::byte> value, const void* call_site) {
    if (is_watching_) watch_.meet(scheduler_.current(), call_site, value);
  }
  FaultRecord stall() const;
  void note_missing_lanes(FaultRecord& record) const;
  ThreadAction action_at_barrier(unsigned thread, std::string action) const;
  Warp& warp_of(unsigned thread) { return warps_[thread / warp_size]; }
  static unsigned in_warp_of(unsigned member, unsigned lane) { return member / warp_size * warp_size + lane; }

  // Memory.
  bool access_elsewhere(const Access& access);
  bool in_arguments(const Access& access) const;
  void note_shared(const Access& access);
  void note_global(const Access& access);  ///< to the last buffer
  void check_global(const Access& access, unsigned thread);
  void count_access(const Access& access);
  void end_interval();
  std::uint16_t chain_of(const Frame* function) {
    return chains_.number_of(function, starts_[scheduler_.current()]);
  }
  void count_warp(unsigned warp);
  void count_early(unsigned thread);
  BlockRecorder* recorder() { return recorder_ ? &*recorder_ : nullptr; }
  [[noreturn]] void stop_for_stray(const Access& access);

  // Loops that never end, in endless_loops.cpp.

  /// What has happened so far: it stays the same while a thread does nothing but compute.
  struct Progress {
    std::size_t block = 0;
    std::size_t accesses = 0;
    std::size_t meetings = 0;  ///< of threads, and questions to peers, whose own limit ends a wait for them
    unsigned accesses_left = 0;
    unsigned thread = 0;
    unsigned finished = 0;

    bool operator==(const Progress&) const = default;
  };

  void begin_watch(const unsigned* meetings);
  void end_watch();
  void watch_access(const Access& access);
  void judge_accesses();
  void judge_meetings(unsigned meetings);
  bool may_change_by_other_blocks();
  [[noreturn]] void end_in_a_loop(std::string action);
  [[noreturn]] void end_in_a_wait(const Accessor& reader);
  [[noreturn]] void stop_for_time(const void* call_site) override;
  void watch_turn(unsigned thread, std::span<const std::byte> stack) override { watch_.turn(thread, stack); }
  bool is_stuck(const void* instruction) override;

  /// Accesses without a barrier after which threads are watched for the first time.
  static constexpr std::size_t first_watch = std::size_t{1} << 22;
  /// Turns of each thread in such a watch; more in later ones, as a loop's pass may be long.
  static constexpr std::size_t first_turns = 32;

  /// So many ticks without progress are the limit.
  static constexpr int ticks_of_the_limit = 10;

  static inline thread_local constinit Block* running_ = nullptr;

  Scheduler scheduler_;
  SharedMemory shared_;
  std::vector<Thread> threads_;
  std::vector<Waiting> waiting_;
  std::vector<const Frame*> starts_;  ///< for each thread, from where the kernel is called
  std::vector<Warp> warps_;

  const LaunchContext* launch_ = nullptr;
  std::size_t number_ = 0;
  bool instrumented_ = true;
  std::size_t launch_number_ = 0;
  unsigned size_ = 0;      ///< threads of the block
  unsigned finished_ = 0;  ///< threads that have left the kernel
  unsigned arrived_ = 0;   ///< threads that wait at the block barrier
  unsigned first_ = 0;     ///< of these
  bool barrier_is_divergent_ = false;
  unsigned arrived_true_ = 0;   ///< threads that have brought a true predicate to it,
  unsigned released_true_ = 0;  ///< and to the last one that all have passed
  bool has_turn_ = false;       ///< no lower block is running, so that this one may run atomics
  std::size_t accesses_ = 0;    ///< accesses of the block since threads of it last met
  std::array<std::size_t, ReadyThreads::capacity / warp_size>
      count_after_{};            ///< so many of a thread of each warp, they are counted early
  std::size_t watch_after_ = 0;  ///< so many of them, threads are watched
  unsigned releases_ = 0;        ///< block barriers that the block has passed
  unsigned accesses_left_ = 0;   ///< that the running thread may make before another has its turn
  Buffer* last_buffer_ = nullptr;

  bool is_watching_ = false;
  const unsigned* watched_meetings_ = nullptr;  ///< their count, if they are what the watch is for
  LoopWatch watch_;
  std::size_t watched_turns_ = 0;  ///< that each thread is watched for
  unsigned watched_accesses_left_ = 0;
  std::optional<std::chrono::nanoseconds>
      alike_since_;             ///< the host thread's time when a loop first seemed endless
  unsigned alike_watches_ = 0;  ///< of meetings, one after the other
  Progress progress_;
  int ticks_without_progress_ = 0;
  unsigned stuck_thread_ = ReadyThreads::capacity;  ///< ends at its next access

  FaultLog faults_;
  std::exception_ptr exception_;
  Counters counters_;
  HappensBefore order_;
  FenceOrder fences_;
  CallChains chains_;
  WarpInstructionLog instructions_;
  std::optional<BlockRecorder> recorder_;  ///< of a block that is traced
  SharedRaces shared_races_;
  GlobalRaces global_races_;
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
  if (--accesses_left_ == 0) count_access(access);
}

/// Inline, because most of what a barrier costs are its switches, and on each of them a frame more to return through.
inline unsigned Block::barrier(SourceLine where, bool predicate, Caller from) {
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  if (recorder_) recorder_->settle(thread);
  Thread& self = threads_[thread];
  self.where = where;
  self.state = State::at_block_barrier;
  self.met = releases_;
  self.call_site = from.call_site;
  self.chain = chain_of(from.function);
  if (arrived_ == 0) first_ = thread;
  arrived_true_ += predicate ? 1 : 0;
  stop_lane(thread);
  // Threads at different barriers never go on: the block stalls there, and the stall is reported.
  if (!at_same_barrier(self, threads_[first_])) barrier_is_divergent_ = true;
  if (++arrived_ == size_ && !barrier_is_divergent_) release_block(from.call_site);
  release_if_stopped(thread);
  scheduler_.suspend();
  note_value(std::as_bytes(std::span{&released_true_, 1}), from.call_site);
  return released_true_;
}

}  // namespace __emulated
