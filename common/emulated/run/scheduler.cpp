#include "emulated/run/scheduler.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>

#include "emulated/run/block.hpp"

namespace __emulated {
namespace {

/// Sent to a host thread after so much time on its CPU.
constexpr int timer_signal = SIGVTALRM;

constexpr std::array crash_signals{SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};

struct sigaction& earlier_action(int signal) {
  static std::array<struct sigaction, NSIG> actions{};
  return actions[static_cast<std::size_t>(signal)];
}

/// Where a signal interrupted its thread, and what that thread is to go on with in place of it.
class Interrupted {
 public:
  explicit Interrupted(void* context) : registers_{static_cast<ucontext_t*>(context)->uc_mcontext} {}

#if defined(__x86_64__)
  const void* instruction() const { return reinterpret_cast<const void*>(registers_.gregs[REG_RIP]); }
  const void* stack_pointer() const { return reinterpret_cast<const void*>(registers_.gregs[REG_RSP]); }
  const void* last_return_address() const { return nullptr; }  // on the stack
  void call(void (*function)(), std::byte* stack_top) {
    registers_.gregs[REG_RSP] = reinterpret_cast<greg_t>(stack_top) - 8;  // as after a call
    registers_.gregs[REG_RIP] = reinterpret_cast<greg_t>(function);
  }
#elif defined(__aarch64__)
  const void* instruction() const { return reinterpret_cast<const void*>(registers_.pc); }
  const void* stack_pointer() const { return reinterpret_cast<const void*>(registers_.sp); }
  const void* last_return_address() const { return reinterpret_cast<const void*>(registers_.regs[30]); }
  void call(void (*function)(), std::byte* stack_top) {
    registers_.sp = reinterpret_cast<std::uintptr_t>(stack_top);
    registers_.pc = reinterpret_cast<std::uintptr_t>(function);
  }
#else
#error "the emulated device knows the registers of x86-64 and AArch64 only: add those of this processor"
#endif

 private:
  mcontext_t& registers_;
};

/// Stacks with a guard page, each of which takes two of the 65530 mappings that Linux gives a process.
constexpr std::size_t most_guarded_stacks = 28'000;
std::atomic<std::size_t> guarded_stacks = 0;

/// Whether there may be so many more.
bool can_guard(std::size_t stacks) {
  if (guarded_stacks.fetch_add(stacks) + stacks <= most_guarded_stacks) return true;
  guarded_stacks -= stacks;
  return false;
}

/// Bytes at the low end of a stack without a guard page that stay 0.
constexpr std::size_t untouched_bytes = 256;

/// What each host thread that runs fibers has: a timer of its time on a CPU, and a stack for its signals, as a thread that has
/// overflowed its own has none.
class HostThread {
 public:
  static HostThread& local() {
    static thread_local HostThread own;
    return own;
  }

  HostThread() {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = timer_signal;
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0) {
      throw std::system_error{errno, std::generic_category(), "making a timer for emulated threads"};
    }
    stack_t present{};
    sigaltstack(nullptr, &present);
    if ((present.ss_flags & SS_DISABLE) == 0) return;  // a sanitizer has brought one
    signal_stack_ = Mapping{std::size_t{512} << 10, Backing::as_touched};
    stack_t own{};
    own.ss_sp = signal_stack_.begin();
    own.ss_size = signal_stack_.bytes();
    sigaltstack(&own, nullptr);
  }
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;
  ~HostThread() {
    timer_delete(timer_);
    if (signal_stack_.begin() == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

  void set_tick(std::chrono::nanoseconds tick) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(tick);
    const timespec period{seconds.count(), (tick - seconds).count()};
    const itimerspec times{period, period};
    timer_settime(timer_, 0, &times, nullptr);
  }

 private:
  timer_t timer_{};
  Mapping signal_stack_;
};

}  // namespace

Scheduler::Scheduler(Block& block, unsigned threads)
    : block_{block},
      has_guard_pages_{can_guard(threads)},
      host_{threads},
      stacks_{threads * stack_bytes, Backing::as_touched},
      fibers_(threads + 1),
      indices_(threads + 1),
      is_parked_(threads, false) {
  HostThread::local();
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action {};
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const int signal : crash_signals)
      sigaction(signal, &action, &earlier_action(signal));
    action.sa_sigaction = on_timer;
    action.sa_flags |= SA_RESTART;
    sigaction(timer_signal, &action, nullptr);
  });
}

Scheduler::~Scheduler() {
  if (has_guard_pages_) guarded_stacks -= host_;
}

void Scheduler::begin_block(const uint3& shape, const Schedule& schedule, std::size_t block) {
  const unsigned threads = shape.x * shape.y * shape.z;
  if (shape.x != shape_.x || shape.y != shape_.y || shape.z != shape_.z) {
    shape_ = shape;
    for (unsigned i = 0; i < threads; ++i)
      indices_[i] = {i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y};
  }
  is_watched_ = false;
  ready_.begin_block(schedule, block);
  for (unsigned thread = 0; thread < threads; ++thread) {
    if (!is_parked_[thread]) prepare(thread);
    is_parked_[thread] = false;
  }
  ready_.push_all(threads);
}

void Scheduler::run() {
  running_ = this;
  is_paused_ = is_stopped_ = false;
  while (!ready_.empty() && !is_paused_ && !is_stopped_) {
    const unsigned next = ready_.pop();
    if (is_watched_) block_.watch_turn(next, stack_in_use(next));
    switch_to(next);
  }
  running_ = nullptr;
}

void Scheduler::Ticks::set(std::chrono::nanoseconds tick) { HostThread::local().set_tick(tick); }

void Scheduler::prepare(unsigned thread) {
  const bool is_guarded = has_guard_pages_ || thread == 0;
  if (is_guarded && mprotect(stack_of(thread), page_bytes(), PROT_NONE) != 0) {
    throw std::system_error{errno, std::generic_category(), "guarding the stack of an emulated thread"};
  }
  // Stacks that begin at different cache sets: at equal ones their tops would evict each other.
  const std::size_t offset = thread % 16 * 256;
  const auto run_threads = [] {
    running_->fibers_[running_->current_].take_up_stack();
    running_->block_.run_threads();
  };
  const std::span<std::byte> usable = usable_stack_of(thread);
  fibers_[thread].prepare(usable.first(usable.size() - offset), run_threads);
}

/// The running thread, whose stack has no guard page, gives way: had it used the whole stack, it would have left something at
/// the end.
void Scheduler::require_whole_stack() {
  const auto* const begin = reinterpret_cast<const std::uint64_t*>(stack_of(current_));
  const std::span<const std::uint64_t> words{begin, untouched_bytes / sizeof(std::uint64_t)};
  if (current_ == 0 || std::ranges::all_of(words, [](std::uint64_t word) { return word == 0; })) return;
  std::memset(stack_of(current_), 0, untouched_bytes);
  is_parked_.assign(is_parked_.size(), false);  // what it has run into may be anybody's
  block_.stop_for_crash(Crash::stack_overflow, nullptr);
}

std::span<std::byte> Scheduler::usable_stack_of(unsigned thread) const {
  return {stack_of(thread) + page_bytes(), stack_bytes - page_bytes()};
}

void Scheduler::stop() {
  is_stopped_ = true;
  switch_to(host_);
  std::abort();  // nothing switches back
}

unsigned Scheduler::thread_at(const void* address) const {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - stacks_.begin());
  return offset < stacks_.bytes() ? static_cast<unsigned>(offset / stack_bytes) : host_;
}

/// What no thread of a kernel has done goes to whoever handled the signal before.
void Scheduler::on_crash(int signal, siginfo_t* info, void* context) {
  Scheduler* const self = running_;
  const Interrupted interrupted{context};
  unsigned thread = 0;
  if (self != nullptr) {
    // Not always the running one: a switch to another may be under way. Where its stack is not known any more, it is.
    thread = self->thread_at(interrupted.stack_pointer());
    if (thread == self->host_) thread = self->current_;
  }
  if (self == nullptr || thread == self->host_) {
    const struct sigaction& earlier = earlier_action(signal);
    if ((earlier.sa_flags & SA_SIGINFO) != 0) return earlier.sa_sigaction(signal, info, context);
    sigaction(signal, &earlier, nullptr);
    return;  // to the same fault
  }
  self->current_ = thread;
  self->stack_ = self->stack_of(thread);
  const void* const instruction = interrupted.instruction();
  if (signal == SIGFPE) {
    self->crash_ = Crash::division;
  } else if (signal == SIGILL || signal == SIGTRAP) {
    self->crash_ = Crash::illegal;
  } else if (info->si_addr == instruction) {
    self->crash_ = Crash::call;
  } else if (self->on_own_stack(info->si_addr)) {
    self->crash_ = Crash::stack_overflow;
  } else {
    self->crash_ = self->thread_at(info->si_addr) != self->host_ ? Crash::stray_local : Crash::stray;
  }
  // Of what is no code of the program's, the call by which it came there has a line.
  const void* call_site = static_cast<const std::byte*>(instruction) + 1;
  if (!self->block_.is_code(instruction)) {
    if (self->block_.is_code(interrupted.last_return_address())) {
      call_site = interrupted.last_return_address();
    } else if (self->on_own_stack(interrupted.stack_pointer()) && self->crash_ != Crash::stack_overflow) {
      const auto* word = static_cast<const void* const*>(interrupted.stack_pointer());
      const auto* const end = reinterpret_cast<const void* const*>(self->stack_ + stack_bytes);
      word = std::find_if(word, end, [&](const void* each) { return self->block_.is_code(each); });
      if (word != end) call_site = *word;
    }
  }
  self->leave_thread(context, call_site,
                     [] { running_->block_.stop_for_crash(running_->crash_, running_->call_site_); });
}

void Scheduler::on_timer(int, siginfo_t*, void* context) {
  Scheduler* const self = running_;
  if (self == nullptr || self->current_ == self->host_) return;
  const void* const instruction = Interrupted{context}.instruction();
  if (!self->block_.is_stuck(instruction)) return;
  self->leave_thread(context, static_cast<const std::byte*>(instruction) + 1,
                     [] { running_->block_.stop_for_time(running_->call_site_); });
}

/// Has the running thread go on with `leave` where its stack began: nothing on it is needed any more.
void Scheduler::leave_thread(void* context, const void* call_site, void (*leave)()) {
  call_site_ = call_site;
  const std::span<std::byte> stack = usable_stack_of(current_);
  Fiber::drop_frames(stack);
  Interrupted{context}.call(leave, stack.data() + stack.size());
}

}  // namespace __emulated
