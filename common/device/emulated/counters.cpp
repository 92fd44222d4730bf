#include "device/emulated/counters.hpp"

#include <cstring>

namespace reduction::emulated {

Counters& Counters::operator+=(const Counters& other) {
  blocks += other.blocks;
  threads += other.threads;
  shared_load_requests += other.shared_load_requests;
  shared_load_wavefronts += other.shared_load_wavefronts;
  shared_load_conflicts += other.shared_load_conflicts;
  shared_load_lanes += other.shared_load_lanes;
  shared_store_requests += other.shared_store_requests;
  shared_store_wavefronts += other.shared_store_wavefronts;
  shared_store_conflicts += other.shared_store_conflicts;
  shared_store_lanes += other.shared_store_lanes;
  global_load_requests += other.global_load_requests;
  global_load_sectors += other.global_load_sectors;
  global_load_lanes += other.global_load_lanes;
  global_store_requests += other.global_store_requests;
  global_store_sectors += other.global_store_sectors;
  global_store_lanes += other.global_store_lanes;
  block_barriers += other.block_barriers;
  warp_barriers += other.warp_barriers;
  shuffles += other.shuffles;
  atomics += other.atomics;
  return *this;
}

bool Counters::operator==(const Counters& other) const {
  return std::memcmp(this, &other, sizeof(*this)) == 0;
}

}  // namespace reduction::emulated
