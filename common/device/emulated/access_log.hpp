#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/emulated/counters.hpp"
#include "device/emulated/intrinsics.hpp"
#include "device/emulated/lanes.hpp"

namespace reduction::emulated {

/// One access of one lane, as much of it as counting needs.
struct LoggedAccess {
  enum class Kind : std::uint8_t { shared_load, shared_store, global_load, global_store };

  std::uintptr_t address;
  std::uint32_t call_site;  ///< low bits of the place in the kernel from which it was reported
  std::uint8_t bytes;
  Kind kind;
};

/// What the lanes of each warp have accessed since the warp last synchronised, and how it is counted: the
/// k-th accesses of all lanes from one place are one warp instruction. Time plays no part, as the lanes of a
/// warp run one after the other here.
class AccessLog {
 public:
  explicit AccessLog(unsigned threads) : lanes_(threads), pending_(threads / warp_size) {}

  void add(unsigned thread, const LoggedAccess& access) {
    lanes_[thread].push_back(access);
    pending_[thread / warp_size] |= bit_of(thread % warp_size);
  }

  /// The warp synchronises: counts its instructions and forgets them.
  void count_warp(unsigned warp, Counters& counters) {
    if (pending_[warp] != 0) count_pending(warp, counters);
  }

  /// Forgets everything, after a block that failed.
  void clear();

 private:
  void count_pending(unsigned warp, Counters& counters);
  void count_diverged(unsigned warp, std::size_t begin, Counters& counters);

  std::vector<std::vector<LoggedAccess>> lanes_;
  std::vector<unsigned> pending_;  ///< for each warp, the lanes whose log is not empty
};

}  // namespace reduction::emulated
