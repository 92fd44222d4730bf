#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "emulated/count/counters.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/run/lanes.hpp"
#include "emulated/run/observed.hpp"

namespace __emulated {

inline constexpr unsigned banks = 32;  ///< of shared memory

/// What one warp instruction costs: wavefronts of shared memory, or sectors of global memory.
struct RequestCost {
  unsigned wavefronts = 0;
  unsigned conflicts = 0;  ///< wavefronts beyond one for each part of the warp that is served at once
  unsigned sectors = 0;    ///< distinct pieces of 32 bytes
};

/// Shared memory has 32 banks of 4-byte words. A wavefront serves any lanes that do not ask for two different
/// words of one bank. 8-byte accesses are served by half warps, 16-byte accesses by quarter warps. A load is
/// served in parts twice as large if each active lane asks for the address of lane ^ 1, or that one is idle;
/// or so with lane ^ 2.
/// \param kind  a load or store; \param addresses  of the active lanes, in order; \param lanes  which these are.
RequestCost cost_of(EventKind kind, std::span<const std::uintptr_t> addresses, unsigned lanes,
                    std::size_t bytes);

/// The counters of one kind of request: the costs of shared memory, or of global memory, and nullptr for the others.
struct RequestCounters {
  std::uint64_t Counters::*requests;
  std::uint64_t Counters::*lanes;
  std::uint64_t Counters::*wavefronts;
  std::uint64_t Counters::*conflicts;
  std::uint64_t Counters::*sectors;

  void add(const RequestCost& cost, std::size_t active, Counters& to) const {
    ++(to.*requests);
    to.*lanes += active;
    if (sectors != nullptr) {
      to.*sectors += cost.sectors;
    } else {
      to.*wavefronts += cost.wavefronts;
      to.*conflicts += cost.conflicts;
    }
  }
};

/// By kind, of which these are the first.
inline constexpr RequestCounters request_counters[] = {
    {&Counters::shared_load_requests, &Counters::shared_load_lanes, &Counters::shared_load_wavefronts,
     &Counters::shared_load_conflicts, nullptr},
    {&Counters::shared_store_requests, &Counters::shared_store_lanes, &Counters::shared_store_wavefronts,
     &Counters::shared_store_conflicts, nullptr},
    {&Counters::global_load_requests, &Counters::global_load_lanes, nullptr, nullptr,
     &Counters::global_load_sectors},
    {&Counters::global_store_requests, &Counters::global_store_lanes, nullptr, nullptr,
     &Counters::global_store_sectors},
    {&Counters::shared_copy_requests, &Counters::shared_copy_lanes, &Counters::shared_copy_wavefronts,
     &Counters::shared_copy_conflicts, nullptr},
};

/// The fewest sectors that could hold what one warp instruction accesses in global memory: each byte counts once.
unsigned fewest_sectors(std::span<const std::uintptr_t> addresses, std::size_t bytes);

/// A warp instruction as it was counted.
struct CountedRequest {
  std::uint32_t lanes = 0;
  RequestCost cost;
  std::array<std::uint32_t, warp_size>
      visits;  ///< for each active lane, its number among the lane's accesses
};

}  // namespace __emulated
