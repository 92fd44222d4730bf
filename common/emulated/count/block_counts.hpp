#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "emulated/count/counters.hpp"
#include "emulated/count/place_counts.hpp"
#include "emulated/run/lanes.hpp"
#include "emulated/run/observed.hpp"

namespace __emulated {

class BlockRecorder;

/// One access of one lane, as much of it as counting needs.
struct LaneAccess {
  std::uintptr_t address;  ///< as the banks, or sectors, count it
  /// In the kernel, as low bits of the call site and the number of the calls that lead to its function; a load or store; its
  /// bytes.
  std::uint64_t place;

  static LaneAccess of(const ObservedAccess& seen) {
    const auto site = reinterpret_cast<std::uintptr_t>(seen.access.call_site);
    return {seen.position, std::uint64_t{site} << 32 | std::uint64_t{seen.chain} << 16 |
                               std::uint64_t{static_cast<std::uint8_t>(seen.kind())} << 8 |
                               seen.access.bytes};
  }
  EventKind kind() const { return static_cast<EventKind>(place >> 8 & 0xff); }
  std::size_t bytes() const { return place & 0xff; }
  std::uint32_t site() const { return static_cast<std::uint32_t>(place >> 32); }
};

/// Counts what the threads of a block do. What the lanes of each warp have accessed since the warp last synchronised is kept
/// until then: the k-th accesses of all lanes from one place are one warp instruction. Time does not matter: the lanes of a
/// warp run one after the other here.
class BlockCounts {
 public:
  explicit BlockCounts(unsigned threads)
      : logs_(threads),
        pending_(threads / warp_size),
        forgotten_(threads),
        count_after_(threads / warp_size) {}

  /// \param places, recorder  that are told of each request, or nullptr.
  void begin_block(unsigned threads, PlaceCounts* places, BlockRecorder* recorder);

  /// A load or store.
  void access(ObservedAccess seen) {
    logs_[seen.thread].push_back(LaneAccess::of(seen));
    pending_[seen.thread / warp_size] |= bit_of(seen.thread % warp_size);
  }
  void atomic() { ++counters_.atomics; }
  void copied_in_bulk(std::size_t bytes) { counters_.bulk_copy_bytes += bytes; }
  void poll() { ++counters_.barrier_polls; }
  void warp_sync(const WarpSync& met);
  void block_sync();

  /// The thread has made many accesses since its warp last met. Counts and forgets those that cannot become part of another
  /// instruction any more, so that a long loop takes no more memory than a short one. \param going_on  the lanes of its warp
  /// that may access memory before it meets.
  void count_early(unsigned thread, unsigned going_on);
  /// Whether it would do anything.
  bool may_count_early(unsigned thread) const;

  /// \param is_complete  whether all threads have left the kernel.
  Counters end_block(bool is_complete);

 private:
  std::vector<LaneAccess>& log_of(unsigned warp, unsigned lane) { return logs_[warp * warp_size + lane]; }
  void count_warp(unsigned warp);
  void count_warps();
  void count_pending(unsigned warp);
  void count_diverged(unsigned warp, std::size_t begin);
  void count_complete(unsigned warp, unsigned going_on);

  Counters counters_;
  PlaceCounts* places_ = nullptr;
  BlockRecorder* recorder_ = nullptr;
  unsigned warps_ = 0;
  std::vector<std::vector<LaneAccess>> logs_;  ///< of each thread
  std::vector<unsigned> pending_;              ///< for each warp, the lanes whose log is not empty
  /// For each thread, accesses since its warp last synchronised that are counted already,
  std::vector<std::size_t> forgotten_;
  bool forgets_ = false;  ///< and whether there have been any
  /// So many accesses of a thread of each warp, they are counted early.
  std::vector<std::size_t> count_after_;
};

}  // namespace __emulated
