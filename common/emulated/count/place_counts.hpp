#pragma once
#include <cstdint>
#include <unordered_map>

#include "emulated/count/counters.hpp"

namespace __emulated {

/// What the loads and stores of one place in a kernel have cost.
struct PlaceCounters {
  Counters counters;
  std::uint64_t fewest_sectors = 0;  ///< that could hold what the requests to global memory have accessed

  PlaceCounters& operator+=(const PlaceCounters& other) {
    counters += other.counters;
    fewest_sectors += other.fewest_sectors;
    return *this;
  }
};

/// By the low bits of the call site.
using PlaceCounts = std::unordered_map<std::uint32_t, PlaceCounters>;

}  // namespace __emulated
