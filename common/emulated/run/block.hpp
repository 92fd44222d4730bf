#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulated/findings/report.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/run/asynchronous_copies.hpp"
#include "emulated/run/block_observers.hpp"
#include "emulated/run/call_chain.hpp"
#include "emulated/run/grid.hpp"
#include "emulated/run/lanes.hpp"
#include "emulated/run/polls.hpp"
#include "emulated/run/resident_blocks.hpp"
#include "emulated/run/scheduler.hpp"
#include "emulated/run/watchdog.hpp"

namespace __emulated {

/// The threads of a block, and how they wait for each other. It serves one block after the other, on one host thread. Aligned so
/// that two host threads share no cache line.
class alignas(128) Block {
 public:
  /// The one whose kernel the calling host thread is running, or nullptr outside of kernels and while the device itself
  /// works for it.
  static Block* running() { return running_; }

  /// \param most_threads  that it may have.
  explicit Block(unsigned most_threads);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  unsigned most_threads() const { return static_cast<unsigned>(threads_.size()); }

  // The life of a block: begin(), then go_on() until it has ended or is not wanted any more, then end().
  /// \param places  that it adds to, or nullptr.
  void begin(Grid& grid, std::size_t number, PlaceCounts* places);
  /// Runs its threads until all have ended, one has failed, or other blocks are to run. \param looks  of threads that wait.
  Halt go_on(unsigned looks);
  /// All blocks have met.
  void pass_grid_barrier();
  BlockOutcome end();

  // Of a block that waits for others:
  std::span<const Polls::Sleeper> sleepers() const { return polls_.sleepers(); }
  /// What it waits for, in a word.
  std::uint64_t awaited() const;
  /// The same with all variables of the threads that do.
  std::uint64_t state() const;
  /// Makes it a fault that the block waits: for ever, or for long.
  void blame_wait(bool is_for_ever);

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

  // What the running thread asks for. cuda.hpp says what each does.
  /// Returns the number of threads that brought a true predicate.
  unsigned barrier(bool predicate, Caller from);
  void warp_barrier(unsigned mask, const void* call_site);
  void shuffle(Shuffle kind, unsigned mask, int operand, int width, std::span<std::byte> value,
               const void* call_site);
  std::uint64_t vote(VoteRule rule, unsigned mask, std::uint64_t value, const void* call_site);
  unsigned active_lanes(const void* call_site);
  /// Waits until `threads` of the block have come to the barrier `id`, whichever they are.
  void named_barrier(unsigned id, unsigned threads, const void* call_site);
  /// Comes to it, and goes on.
  void arrive_at_named_barrier(unsigned id, unsigned threads, const void* call_site);
  /// What others of the block may read behind a barrier, and until the next one.
  void bring(std::span<const std::byte> value);
  void take_from(unsigned thread, std::span<std::byte> value) const;
  // Asynchronous copies, and barrier objects (asynchronous_copies.cpp). `copy.thread` is the running one.
  void copy_async(const AsynchronousCopy& copy, const Frame* function);
  void commit_copies();
  /// \param of_all  also those that it has not committed.
  void wait_for_copies(std::size_t groups_left, bool of_all);
  void copy_bulk(const AsynchronousCopy& copy, const std::byte* barrier);
  void init_arrivals(std::byte* barrier, unsigned count, const void* call_site);
  /// Returns the phase. \param bytes  more that are to come; \param drops  whether later phases expect so many fewer.
  std::uint64_t arrive(const std::byte* barrier, unsigned count, std::int64_t bytes, bool drops,
                       const void* call_site);
  /// The barrier waits for the thread's copies, too.
  void bind_copies(const std::byte* barrier, bool arrives, const void* call_site);
  /// Whether this phase is over. \param blocks  whether to wait for its end.
  bool await_phase(const std::byte* barrier, std::uint64_t phase, bool blocks, const void* call_site);
  bool await_parity(const std::byte* barrier, unsigned parity, bool blocks, const void* call_site);
  const std::byte* shared_memory() const { return shared_.dynamic(); }
  bool is_shared(const std::byte* address) const { return shared_.contains(address, 1); }
  bool is_global(const std::byte* address);

  void give_way();
  /// A count in place of a clock: what the block has accessed so far, and the more the longer the running thread only asks.
  std::uint64_t time();
  /// The thread ends.
  [[noreturn]] void leave();
  /// Waits until all threads of the grid have come.
  void grid_barrier(const void* call_site);
  bool is_cooperative() const { return grid_->configuration.is_cooperative; }
  std::size_t number() const { return number_; }
  unsigned threads() const { return size_; }
  std::size_t dynamic_shared_bytes() const { return grid_->configuration.shared_bytes; }
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

  /// Ends the block because of what its running thread does, to what memory, if any.
  [[noreturn]] void fail(Fault fault, std::string memory, std::string action, const void* call_site,
                         std::string help = "");
  [[noreturn]] void stop_for_crash(Crash how, const void* call_site);

  /// Says what the running thread does, which goes on; for whoever is at work.
  void note(Fault fault, std::string action, const void* call_site, std::string help);

  /// Ends the block for a misaligned access, for an atomic one to a local variable, or because too little is left of the
  /// running thread's stack.
  [[noreturn]] void refuse(const Access& access);

  /// The running thread is about to update memory atomically. Holds it until no other block can do so: where blocks do not
  /// take turns, atomic operations happen in their order, and even a floating-point sum is always the same. \param expected  of a compare-and-swap,
  /// the value where it stores another one; else nullptr. \param counted  as what: PTX's `ld.acquire` is a load.
  void begin_atomic(const void* address, std::size_t bytes, const void* call_site, const void* expected,
                    Operation counted = Operation::atomic);
  void narrow_next_atomic() { next_atomic_is_for_block_ = true; }
  bool& carry() { return threads_[scheduler_.current()].carry; }

 private:
  /// What a thread has last waited for; it may have gone on since.
  enum class State : unsigned char {
    started,
    at_block_barrier,
    at_lanes,  ///< a warp barrier, a shuffle or a vote
    at_active_lanes,
    at_named_barrier,
    at_grid_barrier,
    at_arrival_barrier,
    finished
  };

  struct Thread {
    const void* call_site = nullptr;  ///< the call by which it waits,
    std::uint16_t chain = 0;          ///< and of a block barrier the number of the calls that lead there
    State state = State::started;
    unsigned met = 0;    ///< block barriers that the block had passed when it came to one
    bool carry = false;  ///< of an instruction of PTX with `cc`, for its next one
  };

  /// Two calls of a barrier are two barriers, even on one line.
  static bool at_same_call(const Thread& one, const Thread& other) {
    return one.call_site == other.call_site && one.chain == other.chain;
  }

  /// What a thread waits for at a warp barrier, a shuffle or a vote: that other lanes call the same.
  struct Waiting {
    EventKind kind = EventKind::warp_barrier;
    unsigned mask = 0;        ///< the lanes
    Shuffle shuffle{};        ///< at a shuffle, which one,
    VoteRule rule = nullptr;  ///< and at a vote

    bool operator==(const Waiting&) const = default;
  };

  /// The lanes of a warp, one bit each.
  struct Warp {
    unsigned lanes = ~0U;  ///< that the block has; its last warp may be a part of one
    unsigned finished = 0;
    unsigned waiting = 0;  ///< at a warp barrier, a shuffle or a vote
    unsigned stopped = 0;  ///< until something makes them ready, or for good
    unsigned asking = 0;   ///< those of them that call __activemask()
  };

  /// A barrier of a part of the block.
  struct NamedBarrier {
    unsigned threads = 0;           ///< that it is for
    std::vector<unsigned> waiting;  ///< those that wait there
    unsigned gone_on = 0;           ///< those that have come, and gone on,
    HappensBefore::Knowledge told;  ///< and what they did before

    std::size_t arrived() const { return waiting.size() + gone_on; }
  };

  void run_thread();
  void finish(unsigned thread);

  // Barriers and shuffles, in barriers.cpp.
  void wait_for_lanes(const Waiting& what, std::span<std::byte> value, const void* call_site);
  void release_complete_group(unsigned member);
  void stop_lane(unsigned thread) { warp_of(thread).stopped |= bit_of(thread % warp_size); }
  void make_ready(unsigned thread);
  void make_all_ready();
  unsigned come_to(State state, const void* call_site);
  /// The running thread, which is stopped, waits.
  void suspend(unsigned thread) {
    release_if_stopped(thread);
    scheduler_.suspend();
  }
  void release_block(const void* call_site);
  void release_if_stopped(unsigned member) {
    const Warp& warp = warp_of(member);
    if (warp.stopped == warp.lanes && warp.asking != 0) release_active_lanes(member);
  }
  void release_active_lanes(unsigned member);
  void hand_over_values(unsigned member, unsigned group);
  void hand_over_votes(unsigned member, unsigned group);
  void release_named(NamedBarrier& barrier);
  void announce(const AsynchronousCopy& copy);
  void receive(const std::vector<AsynchronousCopy>& copies, const ArrivalBarrier* barrier);
  void require_arrived(const Access& access);
  ArrivalBarrier& arrival_barrier(const std::byte* address, const void* call_site);
  void end_phase_if_complete(ArrivalBarrier& barrier);
  static std::string missing_arrivals_help(const ArrivalBarrier& barrier);
  void require_stack();
  std::string missing_threads_help() const;
  std::string waits_at(unsigned thread) const;
  FaultRecord stall() const;
  Warp& warp_of(unsigned thread) { return warps_[thread / warp_size]; }
  static unsigned in_warp_of(unsigned member, unsigned lane) { return member / warp_size * warp_size + lane; }

  // Memory.
  bool access_elsewhere(const Access& access);
  Witness by_running_thread(const Access& access) const {
    return access_by(number_, scheduler_.current(), access.operation, access.call_site);
  }
  template <typename Look> auto follow(Look look);
  template <bool is_shared> void observe(const Access& access);
  /// The same of a thread, as far as it matters what orders it.
  template <bool is_shared> void order(const Access& access, unsigned thread);
  template <bool is_shared> ObservedAccess observed(const Access& access, unsigned thread);
  void end_turn(const Access& access);
  void look(const Access& access);
  void take_turn();
  void let_others_run(bool at_atomic);
  void halt(Halt why) {
    halt_ = why;
    scheduler_.pause();
  }
  unsigned lanes_going_on(unsigned warp) const;
  std::uint16_t chain_of(const Frame* function) {
    return chains_.number_of(function, starts_[scheduler_.current()]);
  }
  [[noreturn]] void stop_for_stray(const Access& access);

  // What the scheduler and the watchdog call.
  friend class Scheduler;
  friend class Watchdog;
  /// What a fiber runs: one thread of a block after the other, with await_next_block() between two. It must not throw.
  [[noreturn]] void run_threads();
  /// Whether it is an instruction of the kernel's program. Asked in a signal's handler.
  bool is_code(const void* address) const {
    return contains(grid_->code, static_cast<const std::byte*>(address));
  }
  /// A thread that is watched is about to have its turn, with so much of its stack in use.
  void watch_turn(unsigned thread, std::span<const std::byte> stack) { watchdog_.watch_turn(thread, stack); }
  /// The host thread has computed for one more tick. Runs in a signal's handler. Returns whether the running thread ends here.
  bool is_stuck(const void* instruction);
  /// What runs then, on the stack of that thread.
  [[noreturn]] void stop_for_time(const void* call_site);
  /// The block only repeats itself, and this reads what another block may write. Returns whether others have run since.
  bool wait_for_others(const Accessor& reader, bool is_identical);

  static inline thread_local constinit Block* running_ = nullptr;

  FaultLog faults_;
  std::exception_ptr exception_;
  Scheduler scheduler_;
  SharedMemory shared_;
  Polls polls_;
  Watchdog watchdog_{*this, scheduler_, faults_};
  BlockObservers observers_;
  CallChains chains_;

  std::vector<Thread> threads_;
  std::vector<Waiting> waiting_;
  std::vector<LaneExchange> exchanges_;
  std::vector<const Frame*> starts_;  ///< for each thread, from where the kernel is called
  std::vector<Warp> warps_;

  Grid* grid_ = nullptr;
  std::size_t number_ = 0;
  std::size_t launch_number_ = 0;
  bool takes_turns_ = false;  ///< with other blocks, rather than in their order
  bool has_turn_ = false;     ///< to run atomic operations on global memory
  bool next_atomic_is_for_block_ = false;
  std::uint64_t random_ = 0;
  std::size_t pauses_ = 0;                  ///< to let others run
  Halt halt_ = Halt::ended;                 ///< why it is about to leave the host thread to others
  std::optional<Accessor> repeats_itself_;  ///< where it does so, and waits for others because of that
  std::uint64_t repetitions_ = 0;           ///< of that, which are not identical

  unsigned size_ = 0;             ///< threads of the block
  unsigned finished_ = 0;         ///< threads that have left the kernel
  unsigned arrived_ = 0;          ///< threads that wait at the block barrier
  unsigned first_ = 0;            ///< of these
  unsigned arrived_at_grid_ = 0;  ///< threads that wait at the barrier of the grid
  bool barrier_is_divergent_ = false;
  unsigned arrived_true_ = 0;   ///< threads that have brought a true predicate to it,
  unsigned released_true_ = 0;  ///< and to the last one that all have passed
  unsigned releases_ = 0;       ///< block barriers that the block has passed
  /// What a thread has been told of the time.
  struct Told {
    std::uint64_t accesses = 0, idle = 0, step = 0;
  };
  std::map<unsigned, Told> told_times_;
  std::map<unsigned, NamedBarrier> named_barriers_;  ///< by their numbers
  std::map<const std::byte*, ArrivalBarrier> arrivals_;
  AsynchronousCopies copies_;
  Buffer* last_buffer_ = nullptr;
};

/// Inline, so that a hook that knows operation and size has little left to do.
inline void Block::access(const Access& access) {
  if (scheduler_.on_own_stack(access.address)) return;
  // A GPU accesses 2, 4, 8 or 16 bytes only where the address is a multiple of as many.
  const bool is_misaligned = (reinterpret_cast<std::uintptr_t>(access.address) & (access.bytes - 1)) != 0;
  if (is_misaligned || scheduler_.is_stack_short(__builtin_frame_address(0))) refuse(access);
  if (access.is_volatile && access.operation == Operation::load) look(access);
  if (shared_.contains(access.address, access.bytes)) {
    if (observers_.are_there()) {
      const AtWork at_work{*this};
      if (copies_.are_under_way()) require_arrived(access);
      observe<true>(access);
    }
  } else if (last_buffer_ != nullptr && last_buffer_->contains(access.address, access.bytes)) {
    if (observers_.are_there() || access.operation != Operation::load) {
      const AtWork at_work{*this};
      if (copies_.are_under_way()) require_arrived(access);
      observe<false>(access);
    }
  } else if (!access_elsewhere(access)) {
    return;
  }
  if (access.operation != Operation::atomic && watchdog_.ends_turn()) end_turn(access);
}

/// Inline, because most of what a barrier costs are its switches, and on each of them a frame more to return through.
inline unsigned Block::barrier(bool predicate, Caller from) {
  const AtWork at_work{*this};
  const unsigned thread = scheduler_.current();
  observers_.call(thread);
  Thread& self = threads_[thread];
  self.state = State::at_block_barrier;
  self.met = releases_;
  self.call_site = from.call_site;
  self.chain = chain_of(from.function);
  if (arrived_ == 0) first_ = thread;
  arrived_true_ += predicate ? 1 : 0;
  stop_lane(thread);
  // Threads at different barriers never go on: the block stalls there, and the stall is reported.
  if (!at_same_call(self, threads_[first_])) barrier_is_divergent_ = true;
  if (++arrived_ == size_ && !barrier_is_divergent_) release_block(from.call_site);
  suspend(thread);
  watchdog_.take(thread, from.call_site, std::as_bytes(std::span{&released_true_, 1}));
  return released_true_;
}

}  // namespace __emulated
