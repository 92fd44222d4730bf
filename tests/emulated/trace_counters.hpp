#pragma once

#include <bit>

#include "emulated/trace/trace.hpp"

/// What the events of a trace amount to, counted again from each of them.
inline __emulated::Counters counters_of_events(const __emulated::BlockTrace& trace) {
  using __emulated::EventKind;
  __emulated::Counters counters;
  counters.blocks = 1;
  counters.threads = count(trace.config.block);
  for (const __emulated::Event& event : trace.events) {
    const auto lanes = static_cast<unsigned>(std::popcount(event.lanes));
    switch (event.kind) {
      case EventKind::shared_load:
        ++counters.shared_load_requests;
        counters.shared_load_wavefronts += event.wavefronts;
        counters.shared_load_conflicts += event.conflicts;
        counters.shared_load_lanes += lanes;
        break;
      case EventKind::shared_store:
        ++counters.shared_store_requests;
        counters.shared_store_wavefronts += event.wavefronts;
        counters.shared_store_conflicts += event.conflicts;
        counters.shared_store_lanes += lanes;
        break;
      case EventKind::global_load:
        ++counters.global_load_requests;
        counters.global_load_sectors += event.sectors;
        counters.global_load_lanes += lanes;
        break;
      case EventKind::global_store:
        ++counters.global_store_requests;
        counters.global_store_sectors += event.sectors;
        counters.global_store_lanes += lanes;
        break;
      case EventKind::shared_atomic:
      case EventKind::global_atomic: counters.atomics += lanes; break;
      case EventKind::shuffle: counters.shuffles += event.shuffles; break;
      case EventKind::block_barrier: ++counters.block_barriers; break;
      case EventKind::warp_barrier: ++counters.warp_barriers; break;
      case EventKind::vote:
      case EventKind::fence:
      case EventKind::exit: break;
    }
  }
  return counters;
}
