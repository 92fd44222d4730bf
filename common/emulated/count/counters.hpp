#pragma once
/// \file
/// What a launch is counted by. C++17, for nvcc reads this header, too.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace __emulated {

/// What one launch did, counted as Nsight Compute counts it: per warp instruction unless it says otherwise.
/// Every member is a sum over the launch, so none depends on the order in which blocks and threads ran.
struct Counters {
  std::uint64_t blocks = 0;
  std::uint64_t threads = 0;

  std::uint64_t shared_load_requests = 0;    ///< warp instructions that read shared memory
  std::uint64_t shared_load_wavefronts = 0;  ///< passes over the 32 banks that these took
  std::uint64_t shared_load_conflicts = 0;   ///< wavefronts that bank conflicts added
  std::uint64_t shared_load_lanes = 0;       ///< active lanes, summed over the requests
  std::uint64_t shared_store_requests = 0;
  std::uint64_t shared_store_wavefronts = 0;
  std::uint64_t shared_store_conflicts = 0;
  std::uint64_t shared_store_lanes = 0;

  std::uint64_t global_load_requests = 0;
  std::uint64_t global_load_sectors = 0;  ///< distinct 32-byte sectors, summed over the requests
  std::uint64_t global_load_lanes = 0;
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  std::uint64_t global_store_lanes = 0;

  std::uint64_t block_barriers = 0;  ///< __syncthreads(), once per block
  std::uint64_t warp_barriers = 0;   ///< __syncwarp(), once per warp
  std::uint64_t shuffles = 0;
  std::uint64_t atomics = 0;  ///< atomic operations, one per lane that takes part

  // Of asynchronous copies: what those of threads store, and those in bulk.
  std::uint64_t shared_copy_requests = 0;
  std::uint64_t shared_copy_wavefronts = 0;
  std::uint64_t shared_copy_conflicts = 0;
  std::uint64_t shared_copy_lanes = 0;
  std::uint64_t bulk_copy_bytes = 0;
  std::uint64_t barrier_polls = 0;  ///< how often a lane asks whether a barrier object has gone on

  // Loads and stores together.
  std::uint64_t shared_requests() const { return shared_load_requests + shared_store_requests; }
  std::uint64_t shared_wavefronts() const { return shared_load_wavefronts + shared_store_wavefronts; }
  std::uint64_t shared_conflicts() const { return shared_load_conflicts + shared_store_conflicts; }
  std::uint64_t shared_lanes() const { return shared_load_lanes + shared_store_lanes; }
  std::uint64_t global_requests() const { return global_load_requests + global_store_requests; }
  std::uint64_t global_sectors() const { return global_load_sectors + global_store_sectors; }
  std::uint64_t lanes() const { return shared_lanes() + global_load_lanes + global_store_lanes; }

  /// Returns the active lanes of a request to shared memory, 0 if there is none.
  double lanes_per_shared_request() const {
    return static_cast<double>(shared_lanes()) / std::max(1.0, static_cast<double>(shared_requests()));
  }

  Counters& operator+=(const Counters& other);
  bool operator==(const Counters& other) const;
};

/// A counter and the name that it has in JSON.
struct NamedCounter {
  using Member = std::uint64_t Counters::*;  // nvcc writes it with parentheses, of which g++ warns

  std::string_view name;
  Member counter;
  bool is_rare = false;  ///< not in JSON where it is 0

  bool is_in_json(const Counters& counters) const { return !is_rare || counters.*counter != 0; }
};

/// Every counter, in the order of a report.
inline constexpr std::array counter_names{
    NamedCounter{"blocks", &Counters::blocks},
    NamedCounter{"threads", &Counters::threads},
    NamedCounter{"shared_load_requests", &Counters::shared_load_requests},
    NamedCounter{"shared_load_wavefronts", &Counters::shared_load_wavefronts},
    NamedCounter{"shared_load_conflicts", &Counters::shared_load_conflicts},
    NamedCounter{"shared_load_lanes", &Counters::shared_load_lanes},
    NamedCounter{"shared_store_requests", &Counters::shared_store_requests},
    NamedCounter{"shared_store_wavefronts", &Counters::shared_store_wavefronts},
    NamedCounter{"shared_store_conflicts", &Counters::shared_store_conflicts},
    NamedCounter{"shared_store_lanes", &Counters::shared_store_lanes},
    NamedCounter{"global_load_requests", &Counters::global_load_requests},
    NamedCounter{"global_load_sectors", &Counters::global_load_sectors},
    NamedCounter{"global_load_lanes", &Counters::global_load_lanes},
    NamedCounter{"global_store_requests", &Counters::global_store_requests},
    NamedCounter{"global_store_sectors", &Counters::global_store_sectors},
    NamedCounter{"global_store_lanes", &Counters::global_store_lanes},
    NamedCounter{"block_barriers", &Counters::block_barriers},
    NamedCounter{"warp_barriers", &Counters::warp_barriers},
    NamedCounter{"shuffles", &Counters::shuffles},
    NamedCounter{"atomics", &Counters::atomics},
    NamedCounter{"shared_copy_requests", &Counters::shared_copy_requests, true},
    NamedCounter{"shared_copy_wavefronts", &Counters::shared_copy_wavefronts, true},
    NamedCounter{"shared_copy_conflicts", &Counters::shared_copy_conflicts, true},
    NamedCounter{"shared_copy_lanes", &Counters::shared_copy_lanes, true},
    NamedCounter{"bulk_copy_bytes", &Counters::bulk_copy_bytes, true},
    NamedCounter{"barrier_polls", &Counters::barrier_polls, true},
};
static_assert(sizeof(Counters) == counter_names.size() * sizeof(std::uint64_t), "a counter has no name");

inline Counters& Counters::operator+=(const Counters& other) {
  for (const NamedCounter& named : counter_names)
    this->*named.counter += other.*named.counter;
  return *this;
}

inline bool Counters::operator==(const Counters& other) const {
  for (const NamedCounter& named : counter_names) {
    if (this->*named.counter != other.*named.counter) return false;
  }
  return true;
}

}  // namespace __emulated
