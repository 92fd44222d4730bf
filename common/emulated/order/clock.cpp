#include "emulated/order/clock.hpp"

#include <algorithm>
#include <utility>

namespace __emulated {

// ---- of a block ----

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
  if (!clock || other->includes(*clock)) {
    clock = other;
  } else if (!clock->includes(*other)) {
    auto both = std::make_shared<Clock>(*clock);
    both->join(*other);
    clock = std::move(both);
  }
}

// ---- of a grid ----

SharedClock GridClock::of(std::size_t block) const {
  const Node* node = root_.get();
  for (; node != nullptr && block != 0; block /= 8)
    node = node->branches[block % 8].get();
  return node != nullptr ? node->clock : nullptr;
}

void GridClock::learn(std::size_t block, const SharedClock& clock) { root_ = with(root_, block, clock); }

GridClock::Tree GridClock::with(const Tree& tree, std::size_t digits, const SharedClock& clock) {
  Node node = tree ? *tree : Node{};
  if (digits == 0) {
    merge(node.clock, clock);
  } else {
    Tree& branch = node.branches[digits % 8];
    branch = with(branch, digits / 8, clock);
  }
  return tree && node == *tree ? tree : std::make_shared<const Node>(std::move(node));
}

GridClock::Tree GridClock::joined(const Tree& one, const Tree& other) {
  if (!other || one == other) return one;
  if (!one) return other;
  Node both = *one;
  merge(both.clock, other->clock);
  for (std::size_t i = 0; i < both.branches.size(); ++i)
    both.branches[i] = joined(one->branches[i], other->branches[i]);
  if (both == *one) return one;
  return both == *other ? other : std::make_shared<const Node>(std::move(both));
}

}  // namespace __emulated
