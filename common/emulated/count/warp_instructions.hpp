#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emulated/count/counters.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/run/lanes.hpp"
#include "emulated/run/observed.hpp"

namespace __emulated {

class BlockRecorder;

inline constexpr unsigned banks = 32;  ///< of shared memory

/// What one warp instruction costs shared memory.
struct SharedTransactions {
  unsigned wavefronts = 0;
  unsigned conflicts = 0;  ///< wavefronts beyond one for each part of the warp that is served at once
};

/// Shared memory has 32 banks of 4-byte words. A wavefront serves any lanes that do not ask for two different
/// words of one bank. 8-byte accesses are served by half warps, 16-byte accesses by quarter warps. A load is
/// served in parts twice as large if each active lane asks for the address of lane ^ 1, or that one is idle;
/// or so with lane ^ 2.
/// \param kind  a load or store; \param addresses  of the active lanes, in order; \param lanes  which these are.
SharedTransactions shared_transactions(EventKind kind, std::span<const std::uintptr_t> addresses,
                                       unsigned lanes, std::size_t bytes);

/// The number of distinct 32-byte sectors of global memory that one warp instruction touches.
unsigned global_sectors(std::span<const std::uintptr_t> addresses, std::size_t bytes);

/// One access of one lane, as much of it as counting needs.
struct LaneAccess {
  LaneAccess() = default;
  /// \param offset  the address as the banks, or sectors, count it.
  LaneAccess(std::uintptr_t offset, const Access& access, std::uint16_t of_chain, EventKind of_kind)
      : address{offset},
        call_site{static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(access.call_site))},
        chain{of_chain},
        bytes{static_cast<std::uint8_t>(access.bytes)},
        kind{of_kind} {}

  std::uintptr_t address = 0;
  std::uint32_t call_site = 0;  ///< low bits of the place in the kernel
  std::uint16_t chain = 0;      ///< the number of the calls that lead to its function
  std::uint8_t bytes = 0;
  EventKind kind{};  ///< a load or store
};

/// A warp instruction as it was counted.
struct CountedRequest {
  std::uint32_t lanes = 0;
  unsigned wavefronts = 0;
  unsigned conflicts = 0;
  unsigned sectors = 0;
  std::array<std::uint32_t, warp_size>
      visits;  ///< for each active lane, its number among the lane's accesses
};

/// What the lanes of each warp have accessed since the warp last synchronised, and how it is counted: the
/// k-th accesses of all lanes from one place are one warp instruction. Time does not matter: the lanes of a
/// warp run one after the other here.
class WarpInstructionLog {
 public:
  explicit WarpInstructionLog(unsigned threads)
      : lanes_(threads), pending_(threads / warp_size), forgotten_(threads) {}

  void add(unsigned thread, const LaneAccess& access) {
    lanes_[thread].push_back(access);
    pending_[thread / warp_size] |= bit_of(thread % warp_size);
  }

  /// The warp synchronises: counts its instructions and forgets them. \param recorder  is told of each, or nullptr.
  void count_warp(unsigned warp, Counters& counters, BlockRecorder* recorder) {
    if (pending_[warp] != 0) count_pending(warp, counters, recorder);
    if (forgets_) std::fill_n(forgotten_.begin() + warp * warp_size, warp_size, std::size_t{0});
  }

  /// Counts and forgets what cannot become part of another instruction any more, so that a long loop takes no more memory
  /// than a short one. \param going_on  the lanes that may access memory before the warp synchronises.
  void count_complete(unsigned warp, unsigned going_on, Counters& counters, BlockRecorder* recorder);

  /// Accesses of the thread that are not counted yet.
  std::size_t pending(unsigned thread) const { return lanes_[thread].size(); }

  /// Forgets everything, after a block that failed.
  void clear();

 private:
  void count_pending(unsigned warp, Counters& counters, BlockRecorder* recorder);
  void count_diverged(unsigned warp, std::size_t begin, Counters& counters, BlockRecorder* recorder);

  std::vector<std::vector<LaneAccess>> lanes_;
  std::vector<unsigned> pending_;  ///< for each warp, the lanes whose log is not empty
  /// For each thread, accesses since its warp last synchronised that are counted already.
  std::vector<std::size_t> forgotten_;
  bool forgets_ = false;  ///< whether there have been any
};

}  // namespace __emulated
