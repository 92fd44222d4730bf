#include "emulated/memory/closed_memory.hpp"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "emulated/memory/lasting.hpp"

namespace __emulated {
namespace {

/// What is beyond stays open: to close a page takes a launch some 20 ns, and as long to open it again.
constexpr std::size_t most_closed_bytes = std::size_t{256} << 20;
constexpr std::size_t most_closed_ranges = 64;

/// Accesses to closed pages between two calls of the device: a loop is told of by its first ones.
constexpr unsigned most_steps = 1000;

ClosedMemory::Pages pages_of(const std::byte* begin, std::size_t bytes, int protection) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin) / page_bytes() * page_bytes();
  const auto end =
      (reinterpret_cast<std::uintptr_t>(begin) + bytes + page_bytes() - 1) / page_bytes() * page_bytes();
  return {reinterpret_cast<std::byte*>(first), reinterpret_cast<std::byte*>(end), protection};
}

void set(const ClosedMemory::Pages& pages, int protection) {
  mprotect(pages.begin, static_cast<std::size_t>(pages.end - pages.begin), protection);
}

struct sigaction earlier_fault {
}, earlier_step{};

/// The page that the calling thread's next instruction may touch.
thread_local constinit std::byte* stepped = nullptr;

// Of the interrupted thread.
#if defined(__x86_64__)
constexpr greg_t trap_flag = 0x100, write_error = 2;
greg_t& register_of(void* context, int number) {
  return static_cast<ucontext_t*>(context)->uc_mcontext.gregs[number];
}
const void* instruction(void* context) {
  return reinterpret_cast<const void*>(register_of(context, REG_RIP));
}
Operation operation(void* context) {
  return (register_of(context, REG_ERR) & write_error) != 0 ? Operation::store : Operation::load;
}
constexpr bool can_step = true;
void set_step(void* context, bool on) {
  greg_t& flags = register_of(context, REG_EFL);
  flags = on ? flags | trap_flag : flags & ~trap_flag;
}
#else
// A process of AArch64 cannot have itself stopped behind one instruction.
const void* instruction(void* context) {
  return reinterpret_cast<const void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
}
Operation operation(void*) { return Operation::load; }
constexpr bool can_step = false;
void set_step(void*, bool) {}
#endif

/// The calls that lead to an instruction, behind which a handler runs; nullptr: to this one.
std::vector<const void*> calls_to(const void* instruction) {
  std::array<void*, 64> frames{};
  const std::size_t count =
      static_cast<std::size_t>(backtrace(frames.data(), static_cast<int>(frames.size())));
  std::vector<const void*> calls{static_cast<const std::byte*>(instruction) + 1};
  const auto end = frames.begin() + static_cast<std::ptrdiff_t>(count);
  const auto here = instruction == nullptr ? frames.begin() : std::find(frames.begin(), end, instruction);
  if (here != end) calls.insert(calls.end(), here + 1, end);
  return calls;
}

}  // namespace

ClosedMemory& closed_memory() { return lasting<ClosedMemory>(); }

void ClosedMemory::begin(std::function<void(const HostAccess&)> report) {
  report_ = std::move(report);
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = on_fault;
  sigaction(SIGSEGV, &action, &earlier_fault);
  action.sa_sigaction = on_step;
  sigaction(SIGTRAP, &action, &earlier_step);
  const Open closes_behind;
}

void ClosedMemory::add(std::byte* begin, std::size_t bytes, const std::string& what, bool is_shared,
                       bool has_pages) {
  const std::lock_guard lock{mutex_};
  ranges_[begin] = {bytes, what, is_shared, has_pages};
  if (is_on() && open_ == 0 && !is_shared) close(pages_of(begin, bytes, PROT_NONE));
}

void ClosedMemory::remove(const std::byte* begin) {
  const std::lock_guard lock{mutex_};
  const auto range = ranges_.find(begin);
  if (range == ranges_.end()) return;
  const auto is_within = [&](const Pages& pages) {
    return contains({begin, range->second.bytes}, pages.begin);
  };
  std::erase_if(in_use_, is_within);
  std::erase_if(closed_, is_within);
  ranges_.erase(range);
}

bool ClosedMemory::is_shared(const std::byte* address) {
  const std::lock_guard lock{mutex_};
  const auto range = range_of(address);
  return range != ranges_.end() && range->second.is_shared;
}

void ClosedMemory::report(HostAccess access) const {
  if (!is_on()) return;
  access.calls = calls_to(nullptr);
  report_(access);
}

bool ClosedMemory::refuse_release(const void* begin, const void* call_site) {
  // Buffers begin at a page.
  if (!is_on() || reinterpret_cast<std::uintptr_t>(begin) % page_bytes() != 0) return false;
  std::unique_lock lock{mutex_};
  const auto range = ranges_.find(static_cast<const std::byte*>(begin));
  if (range == ranges_.end()) return false;
  std::vector<const void*> calls = calls_to(call_site);
  calls.front() = call_site;
  const HostAccess release{range->first,
                           Operation::store,
                           range->second.what + " (" + std::to_string(range->second.bytes) + " bytes)",
                           false,
                           std::move(calls),
                           true};
  lock.unlock();
  report_(release);
  return true;
}

void ClosedMemory::set_in_use(std::vector<Pages> pages) {
  const std::lock_guard lock{mutex_};
  for (Pages& each : pages) {
    const auto range = range_of(each.begin);
    const Pages used = pages_of(each.begin, static_cast<std::size_t>(each.end - each.begin), each.protection);
    each = used;
    if (range == ranges_.end() || range->second.has_pages) continue;
    const std::byte* const end = range->first + range->second.bytes;
    if (used.begin < range->first) each.begin += page_bytes();
    if (used.end > end) each.end -= page_bytes();
  }
  std::erase_if(pages, [](const Pages& each) { return each.begin >= each.end; });
  in_use_ = std::move(pages);
}

ClosedMemory::Open::Open() {
  ClosedMemory& memory = closed_memory();
  if (!memory.is_on()) return;
  const std::lock_guard lock{memory.mutex_};
  if (memory.open_++ > 0) return;
  for (const Pages& pages : memory.closed_)
    set(pages, PROT_READ | PROT_WRITE);
  memory.closed_.clear();
  memory.closed_bytes_ = 0;
}

ClosedMemory::Open::~Open() {
  ClosedMemory& memory = closed_memory();
  if (!memory.is_on()) return;
  const std::lock_guard lock{memory.mutex_};
  if (--memory.open_ == 0) memory.close();
}

void ClosedMemory::close() {
  for (const auto& [begin, range] : ranges_)
    if (!range.is_shared) close(pages_of(begin, range.bytes, PROT_NONE));
  for (const Pages& pages : in_use_)
    close(pages);
  steps_ = 0;
}

void ClosedMemory::close(const Pages& pages) {
  const auto bytes = static_cast<std::size_t>(pages.end - pages.begin);
  if (closed_.size() == most_closed_ranges || bytes > most_closed_bytes - closed_bytes_) return;
  set(pages, pages.protection);
  closed_.push_back(pages);
  closed_bytes_ += bytes;
}

ClosedMemory::Ranges::const_iterator ClosedMemory::range_of(const std::byte* address) const {
  const auto range = last_until(ranges_, address);
  if (range == ranges_.end()) return range;
  const auto& [begin, described] = *range;
  const std::byte* const end =
      described.has_pages ? pages_of(begin, described.bytes, PROT_NONE).end : begin + described.bytes;
  return address < end ? range : ranges_.end();
}

/// Returns whether it was an access to closed memory, which may happen now.
bool ClosedMemory::handle(const std::byte* address, Operation operation, void* context) {
  std::unique_lock lock{mutex_};
  const auto range = range_of(address);
  if (range == ranges_.end()) return false;
  if (open_ == 0) {
    const auto [bytes, what, is_shared, has_pages] = range->second;
    const std::ptrdiff_t offset = address - range->first;
    lock.unlock();
    const std::size_t width = offset % word_bytes == 0 ? word_bytes : 1;
    const std::string memory =
        what.empty() ? describe_variable(address, width) : word_text(offset, width, what, bytes);
    const HostAccess access{address, operation, memory, is_shared, calls_to(instruction(context))};
    report_(access);
    lock.lock();
  }
  const Pages page = pages_of(address, 1, PROT_NONE);
  set(page, PROT_READ | PROT_WRITE);
  if (can_step && open_ == 0 && steps_++ < most_steps) {
    stepped = page.begin;
    set_step(context, true);
  }
  return true;
}

void ClosedMemory::on_fault(int, siginfo_t* info, void* context) {
  if (closed_memory().handle(static_cast<const std::byte*>(info->si_addr), operation(context), context))
    return;
  sigaction(SIGSEGV, &earlier_fault, nullptr);  // to the same fault
}

void ClosedMemory::on_step(int signal, siginfo_t*, void* context) {
  ClosedMemory& memory = closed_memory();
  std::byte* const page = std::exchange(stepped, nullptr);
  if (page == nullptr) {
    sigaction(signal, &earlier_step, nullptr);
    raise(signal);
    return;
  }
  set_step(context, false);
  const std::lock_guard lock{memory.mutex_};
  if (memory.open_ > 0) return;
  for (const Pages& closed : memory.closed_)
    if (page >= closed.begin && page < closed.end) set({page, page + page_bytes(), 0}, closed.protection);
}

}  // namespace __emulated
