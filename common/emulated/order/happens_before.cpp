#include "emulated/order/happens_before.hpp"

#include <algorithm>
#include <utility>

#include "emulated/run/lanes.hpp"

namespace __emulated {

// ---- clocks ----

const Clock::Row* Clock::find(unsigned warp) const {
  const auto row = std::ranges::find(rows_, warp, &Row::warp);
  return row != rows_.end() ? &*row : nullptr;
}

Clock::Row& Clock::row_of(unsigned warp) {
  const auto row = std::ranges::find(rows_, warp, &Row::warp);
  return row != rows_.end() ? *row : rows_.emplace_back(Row{warp, {}});
}

void Clock::learn(unsigned thread, Moment before) {
  Moment& known = row_of(thread / warp_size).before[thread % warp_size];
  known = std::max(known, before);
}

bool Clock::includes(const Clock& other) const {
  if (all_before_ < other.all_before_) return false;
  return std::ranges::all_of(other.rows_, [&](const Row& row) {
    const Row* const own = find(row.warp);
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      const Moment known = std::max(all_before_, own != nullptr ? own->before[lane] : 0);
      if (known < row.before[lane]) return false;
    }
    return true;
  });
}

void Clock::join(const Clock& other) {
  learn_all_before(other.all_before_);
  for (const Row& row : other.rows_) {
    Row& own = row_of(row.warp);
    for (unsigned lane = 0; lane < warp_size; ++lane)
      own.before[lane] = std::max(own.before[lane], row.before[lane]);
  }
}

void merge(SharedClock& clock, const SharedClock& other) {
  if (!other || clock == other) return;
  if (!clock) {
    clock = other;
    return;
  }
  if (clock->includes(*other)) return;
  auto both = std::make_shared<Clock>(*clock);
  both->join(*other);
  clock = std::move(both);
}

// ---- a block ----

Moment HappensBefore::barrier() {
  for (Warp& warp : warps_)
    warp.parts.reset();
  if (has_acquired_) std::ranges::fill(acquired_, nullptr);
  has_acquired_ = false;
  return last_block_barrier_ = ++time_;
}

HappensBefore::Parts& HappensBefore::parts_of(Warp& warp) {
  if (!warp.parts) {
    warp.parts = std::make_unique<Parts>();
    warp.parts->moment.fill(last_warp_barrier(warp));
  }
  return *warp.parts;
}

void HappensBefore::warp_barrier(unsigned index, unsigned group, unsigned lanes) {
  Warp& warp = warps_[index];
  if (has_acquired_) {
    // Each lane knows what any of them knows.
    for (const unsigned lane : lanes_of(group))
      acquire(index * warp_size + *lanes_of(group).begin(), acquired_[index * warp_size + lane]);
    for (const unsigned lane : lanes_of(group))
      acquired_[index * warp_size + lane] = acquired_[index * warp_size + *lanes_of(group).begin()];
  }
  ++time_;
  if (group == lanes) {
    warp.last_barrier = time_;
    warp.parts.reset();
    return;
  }
  Parts& parts = parts_of(warp);
  parts.has_met = true;
  std::array<Moment, warp_size> seen{};
  for (const unsigned member : lanes_of(group)) {
    for (unsigned lane = 0; lane < warp_size; ++lane)
      seen[lane] = std::max(seen[lane], parts.seen[member][lane]);
  }
  for (const unsigned member : lanes_of(group))
    seen[member] = parts.moment[member];
  for (const unsigned member : lanes_of(group)) {
    parts.seen[member] = seen;
    parts.moment[member] = time_;
  }
}

void HappensBefore::group_barrier(std::span<const unsigned> threads) {
  Clock all;
  for (const unsigned thread : threads)
    all.join(knowledge(thread));
  const auto shared = std::make_shared<const Clock>(std::move(all));
  for (const unsigned thread : threads)
    acquire(thread, shared);
}

void HappensBefore::fence(unsigned thread) {
  parts_of(warps_[thread / warp_size]).moment[thread % warp_size] = ++time_;
}

Clock HappensBefore::knowledge(unsigned thread) const {
  Clock clock;
  if (acquired_[thread]) clock = *acquired_[thread];
  clock.learn_all_before(last_block_barrier_);
  const Warp& warp = warps_[thread / warp_size];
  const unsigned first = thread / warp_size * warp_size;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    clock.learn(first + lane, last_warp_barrier(warp));
    if (warp.parts && warp.parts->seen[thread % warp_size][lane] != 0) {
      clock.learn(first + lane, warp.parts->seen[thread % warp_size][lane] + 1);
    }
  }
  clock.learn(thread, now(thread));
  return clock;
}

void HappensBefore::acquire(unsigned thread, const SharedClock& clock) {
  if (clock) has_acquired_ = true;
  merge(acquired_[thread], clock);
}

}  // namespace __emulated
