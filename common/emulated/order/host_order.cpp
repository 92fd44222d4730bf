#include "emulated/order/host_order.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "emulated/memory/lasting.hpp"
#include "emulated/memory/memory.hpp"

namespace __emulated {
namespace {

/// More of them are forgotten, the oldest first.
constexpr std::size_t most_uses = 1024;

bool overlap(const HostOrder::Use& one, const HostOrder::Use& other) {
  return one.begin < other.end && other.begin < one.end && can_race(one.operation, other.operation);
}

}  // namespace

HostOrder& host_order() { return lasting<HostOrder>(); }

void HostOrder::make_stream(Stream stream, bool is_blocking) {
  const std::lock_guard lock{mutex_};
  has_streams_ = true;
  if (!is_blocking) non_blocking_.insert(stream);
}

void HostOrder::join(Clock& clock, const Clock& other) {
  for (const auto& [stream, number] : other)
    clock[stream] = std::max(clock[stream], number);
}

/// What a stream's next work comes after.
HostOrder::Clock& HostOrder::ordered(Stream stream) {
  Clock& own = streams_[stream];
  if (stream == nullptr) {
    for (const auto& [other, clock] : streams_)
      if (is_blocking(other) && other != nullptr) join(own, clock);
  } else if (is_blocking(stream)) {
    join(own, streams_[nullptr]);
  }
  return own;
}

void HostOrder::add(Stream stream, std::vector<Use> uses) {
  const ClosedMemory::Open closes_behind;
  const std::lock_guard lock{mutex_};
  Clock& before = ordered(stream);
  before[stream] = ++last_;
  for (Use& use : uses) {
    use.is_shared = closed_memory().is_shared(use.begin);
    if (!use.is_shared && !has_streams_) continue;
    use.stream = stream;
    use.number = last_;
    for (const Use& other : uses_)
      if (!overlap_ && overlap(use, other) && other.number > before[other.stream])
        overlap_ = std::pair{use, other};
    std::erase_if(uses_, [&](const Use& other) {
      return other.begin == use.begin && other.end == use.end && other.operation == use.operation &&
             other.stream == stream;
    });
    uses_.push_back(std::move(use));
  }
  if (uses_.size() > most_uses) std::erase_if(uses_, [](const Use& use) { return !use.is_shared; });
  if (uses_.size() > most_uses) uses_.erase(uses_.begin(), uses_.end() - most_uses);
  close_pages();
}

void HostOrder::report_overlap() {
  std::unique_lock lock{mutex_};
  const auto found = std::exchange(overlap_, std::nullopt);
  lock.unlock();
  if (!found) return;
  const auto& [later, earlier] = *found;
  HostAccess access{};
  access.address = std::max(later.begin, earlier.begin);
  access.is_between_streams = true;
  access.memory = later.by + ", which " + verb_of(later.operation) + ' ';
  const auto bytes = std::min<std::size_t>(word_bytes, std::min(later.end, earlier.end) - access.address);
  {
    const std::lock_guard device{device_mutex()};
    const Buffer* const buffer = global_memory().nearest(access.address);
    access.memory += buffer != nullptr ? buffer->describe(access.address, bytes) : "memory";
  }
  access.memory += " that " + earlier.by + " in another stream may still be " +
                   (earlier.operation == Operation::load ? "reading" : "writing");
  closed_memory().report(access);
}

void HostOrder::forget(const std::byte* begin, const std::byte* end) {
  const std::lock_guard lock{mutex_};
  std::erase_if(uses_, [&](const Use& use) { return use.begin >= begin && use.begin < end; });
}

void HostOrder::record(Event event, Stream stream) {
  const std::lock_guard lock{mutex_};
  events_[event] = ordered(stream);
}

void HostOrder::wait(Stream stream, Event event) {
  const std::lock_guard lock{mutex_};
  if (events_.contains(event)) join(streams_[stream], events_[event]);
}

void HostOrder::host_waits() {
  const std::lock_guard lock{mutex_};
  for (const auto& [stream, clock] : streams_)
    join(host_, clock);
  host_knows({});
}

void HostOrder::host_waits_for_stream(Stream stream) {
  const std::lock_guard lock{mutex_};
  host_knows(ordered(stream));
}

void HostOrder::host_waits_for_event(Event event) {
  const std::lock_guard lock{mutex_};
  if (events_.contains(event)) host_knows(events_[event]);
}

std::optional<bool> HostOrder::has_come(Event event) {
  const std::lock_guard lock{mutex_};
  if (!events_.contains(event)) return std::nullopt;
  return std::ranges::all_of(events_[event],
                             [&](const auto& last) { return last.second <= host_[last.first]; });
}

void HostOrder::call_behind(Stream stream, const std::function<void()>& function) {
  host_waits_for_stream(stream);
  function();
}

void HostOrder::host_knows(const Clock& clock) {
  join(host_, clock);
  if (std::erase_if(uses_, [&](const Use& use) { return use.number <= host_[use.stream]; }) == 0) return;
  const ClosedMemory::Open closes_behind;
  close_pages();
}

/// What is only read the host may read, too.
void HostOrder::close_pages() {
  std::vector<ClosedMemory::Pages> pages;
  for (const int protection : {PROT_READ, PROT_NONE}) {
    for (const Use& use : uses_) {
      if (use.is_shared && (use.operation != Operation::load) == (protection == PROT_NONE))
        pages.push_back({const_cast<std::byte*>(use.begin), const_cast<std::byte*>(use.end), protection});
    }
  }
  closed_memory().set_in_use(std::move(pages));
}

HostOrder::Use HostOrder::conflict(const std::byte* address, Operation operation) {
  const std::lock_guard lock{mutex_};
  for (const Use& use : uses_)
    if (address >= use.begin && address < use.end && can_race(use.operation, operation)) return use;
  return {};
}

std::vector<HostOrder::Use> uses_of(const GridRaces& races, const void* kernel) {
  std::vector<HostOrder::Use> uses;
  if (host_order().is_met()) return uses;
  races.for_each_use(
      [&](const Buffer& buffer, std::size_t offset, std::size_t bytes, Operation operation, unsigned mask) {
        const bool is_wanted = host_order().has_streams() && uses.size() < most_uses / 4;
        if (!is_wanted && !closed_memory().is_shared(buffer.begin())) return;
        const std::byte* const begin = buffer.begin() + offset + std::countr_zero(mask);
        const std::byte* const end = std::min(buffer.begin() + offset + bytes - std::countl_zero(mask << 28),
                                              buffer.begin() + buffer.bytes());
        if (!uses.empty() && uses.back().end == begin && uses.back().operation == operation) {
          uses.back().end = end;
        } else {
          uses.push_back({begin, end, operation, "", nullptr, 0});
        }
      });
  if (uses.empty()) return uses;
  const std::string name = kernel_name(kernel);
  for (HostOrder::Use& use : uses)
    use.by = name.empty() ? "a kernel" : name;
  return uses;
}

}  // namespace __emulated
