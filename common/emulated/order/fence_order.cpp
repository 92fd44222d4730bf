#include "emulated/order/fence_order.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "emulated/memory/memory.hpp"
#include "emulated/run/lanes.hpp"

namespace __emulated {

// ---- between blocks ----

GridOrder::WordSet GridOrder::with(WordSet set, const std::byte* word) {
  if (std::ranges::binary_search(sets_[set], word)) return set;
  std::vector<const std::byte*> words = sets_[set];
  words.insert(std::ranges::upper_bound(words, word), word);
  return sets_.number_of(words);
}

GridOrder::WordSet GridOrder::joined(std::vector<WordSet> sets) {
  std::ranges::sort(sets);
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());  // clang 14 rejects std::ranges::unique
  std::erase(sets, none);
  if (sets.empty()) return none;
  if (sets.size() == 1) return sets.front();
  std::vector<const std::byte*> words;
  for (const WordSet set : sets)
    words.insert(words.end(), sets_[set].begin(), sets_[set].end());
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return sets_.number_of(words);
}

void GridOrder::release(const std::byte* word, std::size_t block, WordSet acquired) {
  // Whoever acquires the word has acquired it from lower blocks, too.
  std::vector<const std::byte*> elsewhere = sets_[acquired];
  std::erase(elsewhere, word);
  std::vector<Release>& releases = releases_[word];
  const WordSet number = sets_.number_of(elsewhere);
  if (!releases.empty() &&
      (number == none || (releases.back().block == block && releases.back().acquired == number))) {
    return;
  }
  releases.push_back({block, number});
}

bool GridOrder::is_released_below(const std::byte* word, std::size_t block) const {
  const auto releases = releases_.find(word);
  return releases != releases_.end() && releases->second.front().block < block;
}

bool GridOrder::share_a_word(WordSet one, WordSet other) const {
  return std::ranges::any_of(
      sets_[one], [&](const std::byte* word) { return std::ranges::binary_search(sets_[other], word); });
}

bool GridOrder::ordered(WordSet released, std::size_t lower, WordSet acquired, std::size_t higher) const {
  if (released == none || acquired == none) return false;
  // What is known: of these words, the releases of all blocks below.
  std::vector<Release> known{{higher, acquired}};
  std::map<WordSet, std::size_t> seen;
  while (!known.empty()) {
    const Release next = known.back();
    known.pop_back();
    std::size_t& below = seen[next.acquired];
    if (next.block <= below) continue;
    below = next.block;
    if (share_a_word(released, next.acquired)) return true;
    for (const std::byte* const word : sets_[next.acquired]) {
      for (const Release& release : releases_.at(word)) {
        if (release.block > lower && release.block < next.block) known.push_back(release);
      }
    }
  }
  return false;
}

// ---- a block ----

void FenceOrder::begin_block(std::size_t block, GridOrder& grid) {
  block_ = block;
  grid_ = &grid;
  if (!is_used_) return;
  std::ranges::fill(threads_, Thread{});
  words_.clear();
  released_.clear();
  carried_ = {};
  has_device_fences_ = has_fences_ = has_learned_ = is_used_ = false;
}

void FenceOrder::join(Knowledge& knowledge, const std::vector<Thread*>& threads,
                      Knowledge Thread::*part) const {
  std::vector<GridOrder::WordSet> lower{knowledge.lower};
  for (const Thread* const thread : threads) {
    const Knowledge& other = thread->*part;
    merge(knowledge.clock, other.clock);
    knowledge.acquired = knowledge.acquired || other.acquired;
    lower.push_back(other.lower);
  }
  knowledge.lower = grid_->joined(std::move(lower));
}

void FenceOrder::fence(unsigned thread, FenceScope scope) {
  has_fences_ = is_used_ = true;
  order_.fence(thread);
  Thread& self = threads_[thread];
  self.at_block_fence = self.learned;
  self.at_block_fence.clock = std::make_shared<const Clock>(order_.knowledge(thread));
  if (scope == FenceScope::block) return;
  self.at_device_fence = self.at_block_fence;
  fenced_.join(*self.at_device_fence.clock);
  has_device_fences_ = true;
}

void FenceOrder::atomic(unsigned thread, const Update& update) {
  Thread& self = threads_[thread];
  if (update.is_global) self.learned.acquired = has_learned_ = is_used_ = true;
  if (update.is_global && update.stores) note_atomic(thread);
  const std::byte* const first =
      update.address - reinterpret_cast<std::uintptr_t>(update.address) % word_bytes;
  for (const std::byte* word = first; word < update.address + update.bytes; word += word_bytes) {
    if (const auto known = words_.find(word); known != words_.end()) {
      order_.acquire(thread, known->second.clock);
      self.learned.lower = grid_->joined({self.learned.lower, known->second.lower});
      self.learned.acquired = self.learned.acquired || known->second.acquired;
      has_learned_ = true;
    }
    if (update.is_global && grid_->is_released_below(word, block_))
      self.learned.lower = grid_->with(self.learned.lower, word);
    if (!update.stores) continue;
    if (self.at_block_fence.clock) join(words_[word], {&self}, &Thread::at_block_fence);
    if (const Knowledge& knowledge = to_release(self); update.is_global && knowledge.clock) {
      merge(released_[word], knowledge.clock);
      grid_->release(word, block_, knowledge.lower);
    }
  }
}

void FenceOrder::note_atomic(unsigned thread) {
  at_atomic_[thread] = order_.now(thread);
  if (last_atomics_[0].thread != thread) last_atomics_[1] = last_atomics_[0];
  last_atomics_[0] = {thread, order_.last_block_barrier(), order_.last_warp_barrier(thread), never};
}

/// Called when the block's barrier has become the last one.
void FenceOrder::block_barrier() {
  if (!is_used_) return;
  for (LastAtomic& last : last_atomics_)
    last.next_barrier = std::min(last.next_barrier, order_.last_block_barrier());
  std::vector<Thread*> all;
  for (Thread& thread : threads_)
    all.push_back(&thread);
  if (has_fences_) {
    join(carried_, all, &Thread::at_device_fence);
    for (Thread& thread : threads_)
      thread.at_block_fence = thread.at_device_fence = {};
    words_.clear();
    has_fences_ = false;
  }
  if (has_learned_) {
    Knowledge learned;
    join(learned, all, &Thread::learned);
    for (Thread& thread : threads_)
      thread.learned = learned;
    has_learned_ = false;
  }
}

void FenceOrder::meet(std::span<const unsigned> threads) {
  if (!is_used_) return;
  std::vector<Thread*> members;
  for (const unsigned thread : threads)
    members.push_back(&threads_[thread]);
  Thread met;
  join(met.learned, members, &Thread::learned);
  join(met.at_block_fence, members, &Thread::at_block_fence);
  join(met.at_device_fence, members, &Thread::at_device_fence);
  for (Thread* const thread : members)
    *thread = met;
}

GridOrder::WordSet FenceOrder::released(unsigned thread, Moment moment) const {
  std::vector<const std::byte*> words;
  for (const auto& [word, clock] : released_) {
    if (clock->knows(thread, moment)) words.push_back(word);
  }
  if (words.empty()) return GridOrder::none;  // such a block may not have had its turn
  std::ranges::sort(words);
  return grid_->number_of(words);
}

Untold FenceOrder::untold(unsigned thread, Moment moment, bool knew) const {
  const LastAtomic& other = last_atomics_[last_atomics_[0].thread == thread ? 1 : 0];
  const bool is_of_warp = other.thread / warp_size == thread / warp_size;
  const bool is_behind_barrier = moment < (is_of_warp ? other.warp_barrier : other.barrier);
  const bool is_before_barrier = !is_behind_barrier && moment < other.next_barrier;
  // Before it, or after it and before the next fence.
  const bool is_beside_own = moment <= at_atomic_[thread];
  if (fenced_.knows(thread, moment)) {
    if (is_beside_own && !knew) return Untold::lacks_fence;
    return is_before_barrier ? Untold::lacks_barrier : Untold::lacks_atomic;
  }
  if (is_behind_barrier || is_beside_own) return Untold::lacks_fence;
  return is_before_barrier ? Untold::lacks_barrier : Untold::lacks_both;
}

}  // namespace __emulated
