#include "device/emulated/happens_before.hpp"

#include <algorithm>

#include "device/emulated/lanes.hpp"

namespace reduction::emulated {

Moment HappensBefore::barrier() {
  for (Warp& warp : warps_)
    warp.parts.reset();
  return last_block_barrier_ = ++time_;
}

void HappensBefore::warp_barrier(unsigned index, unsigned group, unsigned lanes) {
  Warp& warp = warps_[index];
  ++time_;
  if (group == lanes) {
    warp.last_barrier = time_;
    warp.parts.reset();
    return;
  }
  if (!warp.parts) {
    warp.parts = std::make_unique<Parts>();
    warp.parts->last_barrier.fill(last_warp_barrier(warp));
  }
  Parts& parts = *warp.parts;
  std::array<Moment, warp_size> seen{};
  for (const unsigned member : lanes_of(group)) {
    for (unsigned lane = 0; lane < warp_size; ++lane)
      seen[lane] = std::max(seen[lane], parts.seen[member][lane]);
    seen[member] = parts.last_barrier[member];
  }
  for (const unsigned member : lanes_of(group)) {
    parts.seen[member] = seen;
    parts.last_barrier[member] = time_;
  }
}

}  // namespace reduction::emulated
