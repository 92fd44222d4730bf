#include "emulated/order/happens_before.hpp"

#include <numeric>
#include <utility>

#include "emulated/memory/memory.hpp"

namespace __emulated {

// ---- barriers ----

HappensBefore::HappensBefore(unsigned threads, std::function<void()> before_learning)
    : warps_((threads + warp_size - 1) / warp_size + 1),
      threads_(warps_.size() * warp_size),
      before_learning_{std::move(before_learning)} {}

void HappensBefore::begin_block(std::size_t block, unsigned threads, Releases& releases) {
  block_ = block;
  if (all_threads_.size() != threads) {
    all_threads_.resize(threads);
    std::iota(all_threads_.begin(), all_threads_.end(), 0U);
  }
  releases_ = &releases;
  time_ = 0;
  for (Warp& warp : warps_)
    warp.last_barrier = warp.last_meeting = 0;
  end_interval();
  slice_ = time_;
  if (!std::exchange(is_used_, false)) return;
  std::ranges::fill(threads_, Thread{});
  released_in_block_.clear();
  carried_ = {};
  has_fences_ = has_learned_ = knows_others_ = has_released_ = has_device_fences_ = false;
}

/// Everything so far is before the last block barrier from now on.
void HappensBefore::end_interval() {
  for (Warp& warp : warps_)
    warp.lanes.reset();
  if (std::exchange(has_acquired_, false)) {
    for (Thread& thread : threads_)
      thread.acquired = nullptr;
  }
  last_block_barrier_ = ++time_;
}

void HappensBefore::block_barrier() {
  end_interval();
  if (!is_used_) return;
  if (std::exchange(has_fences_, false)) {
    for (Thread& thread : threads_) {
      carried_.join(thread.at_device_fence);
      thread.at_block_fence = thread.at_device_fence = {};
    }
    released_in_block_.clear();
  }
  if (has_learned_) share_others(all_threads_);
  has_learned_ = false;
}

void HappensBefore::warp_barrier(unsigned index, unsigned group, unsigned lanes) {
  std::array<unsigned, warp_size> members;
  std::size_t count = 0;
  for (const unsigned lane : lanes_of{group})
    members[count++] = index * warp_size + lane;
  const std::span<const unsigned> threads = std::span{members}.first(count);
  Warp& warp = warps_[index];
  if (group != lanes) {
    group_barrier(threads);
  } else {
    if (is_used_) share(threads);
    warp.last_barrier = ++time_;
    warp.lanes.reset();
  }
  warp.last_meeting = time_;
}

void HappensBefore::group_barrier(std::span<const unsigned> threads) {
  is_used_ = true;
  Clock all;
  for (const unsigned thread : threads) {
    begin_moment(thread);
    all.join(knowledge(thread));
  }
  acquire(threads_[threads.front()], std::make_shared<const Clock>(std::move(all)));
  share(threads);
}

void HappensBefore::grid_barrier() {
  block_barrier();
  if (!is_used_) return;
  for (Thread& thread : threads_)
    thread.others = {};
  carried_ = {};
  knows_others_ = has_released_ = has_device_fences_ = false;
}

/// Tells what the thread does from now on from what it did before.
void HappensBefore::begin_moment(unsigned thread) {
  Warp& warp = warps_[thread / warp_size];
  if (!warp.lanes) {
    warp.lanes = std::make_unique<std::array<Moment, warp_size>>();
    warp.lanes->fill(last_warp_barrier(warp));
  }
  (*warp.lanes)[thread % warp_size] = ++time_;
}

/// Each of these threads knows from now on what any of them knows of other blocks.
void HappensBefore::share_others(std::span<const unsigned> threads) {
  Others all;
  bool knows_atomics = false;
  for (const unsigned thread : threads) {
    all.told.join(threads_[thread].others.told);
    all.fenced.join(threads_[thread].others.fenced);
    knows_atomics = knows_atomics || threads_[thread].knows_atomics;
  }
  for (const unsigned thread : threads) {
    if (threads_[thread].others != all) know(threads_[thread], all);
    threads_[thread].knows_atomics = knows_atomics;
  }
}

/// Each knows what any of them knows beside the moments of their barriers, and their fences are those of each.
void HappensBefore::share(std::span<const unsigned> threads) {
  share_others(threads);
  SharedClock acquired;
  Knowledge at_block_fence;
  Knowledge at_device_fence;
  for (const unsigned thread : threads) {
    merge(acquired, threads_[thread].acquired);
    at_block_fence.join(threads_[thread].at_block_fence);
    at_device_fence.join(threads_[thread].at_device_fence);
  }
  for (const unsigned thread : threads) {
    threads_[thread].acquired = acquired;
    threads_[thread].at_block_fence = at_block_fence;
    threads_[thread].at_device_fence = at_device_fence;
  }
}

// ---- fences and atomics ----

/// What the thread knows of its block.
Clock HappensBefore::knowledge(unsigned thread) const {
  Clock clock;
  if (threads_[thread].acquired) clock = *threads_[thread].acquired;
  clock.learn_all_before(last_block_barrier_);
  const Warp& warp = warps_[thread / warp_size];
  const unsigned first = thread / warp_size * warp_size;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    clock.learn(first + lane, last_warp_barrier(warp));
  clock.learn(thread, now(thread));
  return clock;
}

void HappensBefore::acquire(Thread& thread, const SharedClock& clock) {
  if (clock) has_acquired_ = true;
  merge(thread.acquired, clock);
}

void HappensBefore::learn(Thread& thread, const Others& more) {
  Others all = thread.others;
  all.told.join(more.told);
  all.fenced.join(more.fenced);
  if (all != thread.others) know(thread, all);
}

/// The thread knows all this, which is more than before.
void HappensBefore::know(Thread& thread, const Others& all) {
  before_learning_();
  thread.others = all;
  has_learned_ = knows_others_ = true;
}

void HappensBefore::fence(unsigned number, FenceScope scope) {
  has_fences_ = is_used_ = true;
  Thread& thread = threads_[number];
  begin_moment(number);
  if (scope == FenceScope::device) learn(thread, {{}, thread.others.told});
  thread.at_block_fence = {std::make_shared<const Clock>(knowledge(number)), thread.others.fenced};
  if (scope == FenceScope::block) return;
  thread.at_device_fence = thread.at_block_fence;
  has_device_fences_ = true;
}

void HappensBefore::arrive(unsigned thread, Knowledge& told) {
  is_used_ = true;
  begin_moment(thread);
  told.join({std::make_shared<const Clock>(knowledge(thread)), threads_[thread].others.fenced});
}

void HappensBefore::pass(unsigned thread, const Knowledge& told) {
  acquire(threads_[thread], told.own);
  learn(threads_[thread], {told.others, told.others});
}

void HappensBefore::atomic(unsigned number, const Update& update) {
  Thread& thread = threads_[number];
  if (update.is_global) thread.knows_atomics = has_learned_ = is_used_ = true;
  const std::byte* const first =
      update.address - reinterpret_cast<std::uintptr_t>(update.address) % word_bytes;
  for (const std::byte* word = first; word < update.address + update.bytes; word += word_bytes) {
    if (const auto known = released_in_block_.find(word); known != released_in_block_.end()) {
      acquire(thread, known->second.own);
      learn(thread, {known->second.others, known->second.others});
    }
    if (const auto known = releases_->find(word); update.is_global && known != releases_->end()) {
      acquire(thread, known->second.of(block_));
      learn(thread, {known->second, {}});
    }
    if (!update.stores) continue;
    if (thread.at_block_fence.own) released_in_block_[word].join(thread.at_block_fence);
    if (const Knowledge& knowledge = to_release(thread); update.is_global && knowledge.own) {
      GridClock& released = (*releases_)[word];
      released.join(knowledge.others);
      released.learn(block_, knowledge.own);
      has_released_ = true;
    }
  }
}

}  // namespace __emulated
