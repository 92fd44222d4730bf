#include "device/emulated/fence_order.hpp"

#include <algorithm>

#include "device/emulated/lanes.hpp"

namespace reduction::emulated {

void FenceOrder::begin_block() {
  if (is_used_) std::ranges::fill(threads_, Thread{});
  time_ = fenced_interval_ = released_interval_ = 0;
  interval_ = 1;
  block_acquired_ = has_fences_ = has_atomics_ = is_used_ = false;
}

void FenceOrder::fence(unsigned thread) {
  threads_[thread].fence = now();
  has_fences_ = is_used_ = true;
}

void FenceOrder::atomic(unsigned thread) {
  Thread& self = threads_[thread];
  self.acquired = has_atomics_ = is_used_ = true;
  self.released = std::max(self.released, self.fence.time);
  released_interval_ = std::max(released_interval_, self.fence.interval);
  if (fenced_interval_ == 0) return;
  // A barrier has made the fences of all threads this one's own.
  released_interval_ = std::max(released_interval_, fenced_interval_);
  fenced_interval_ = 0;
  for (Thread& other : threads_)
    other.released = std::max(other.released, other.carried);
}

void FenceOrder::block_barrier() {
  block_acquired_ = has_atomics_;
  if (has_fences_) {
    for (Thread& thread : threads_)
      thread.carried = thread.fence.time;
    fenced_interval_ = interval_;
    has_fences_ = false;
  }
  ++interval_;
}

void FenceOrder::warp_barrier(unsigned warp, unsigned group) {
  if (!has_atomics_) return;
  const auto in_warp = [&](unsigned lane) -> Thread& { return threads_[warp * warp_size + lane]; };
  bool acquired = false;
  for (const unsigned lane : lanes_of{group})
    acquired = acquired || in_warp(lane).acquired;
  for (const unsigned lane : lanes_of{group})
    in_warp(lane).acquired = acquired;
}

}  // namespace reduction::emulated
