#include "device/emulated/warp_instructions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>

#include "device/emulated/block_recorder.hpp"

namespace reduction::emulated {

// ---- the cost of one warp instruction ----

namespace {

constexpr std::size_t sector_bytes = 32;

/// The wavefronts of lanes that are served together: distinct words of a bank, at the bank that has the most.
unsigned wavefronts(std::span<const std::uintptr_t> addresses, std::size_t bytes) {
  std::array<std::array<std::uintptr_t, warp_size>, banks> words;
  std::array<unsigned, banks> distinct{};
  unsigned most = 0;
  const std::size_t words_each = std::max<std::size_t>(1, bytes / word_bytes);
  for (const std::uintptr_t address : addresses) {
    for (std::size_t i = 0; i < words_each; ++i) {
      const std::uintptr_t word = address / word_bytes + i;
      const std::size_t bank = word % banks;
      auto& here = words[bank];
      const auto end = here.begin() + distinct[bank];
      if (std::find(here.begin(), end, word) != end) continue;
      *end = word;
      most = std::max(most, ++distinct[bank]);
    }
  }
  return most;
}

}  // namespace

SharedTransactions shared_transactions(std::span<const std::uintptr_t> addresses, unsigned lanes,
                                       std::size_t bytes) {
  const unsigned together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  const unsigned group = together == 32 ? ~0U : (1U << together) - 1;
  SharedTransactions total;
  std::size_t first = 0;
  for (unsigned lane = 0; lane < warp_size; lane += together) {
    const auto count = static_cast<std::size_t>(std::popcount(lanes >> lane & group));
    if (count == 0) continue;
    const unsigned needed = wavefronts(addresses.subspan(first, count), bytes);
    total.wavefronts += needed;
    total.conflicts += needed - 1;
    first += count;
  }
  return total;
}

unsigned global_sectors(std::span<const std::uintptr_t> addresses, std::size_t bytes) {
  std::array<std::uintptr_t, 2 * warp_size> sectors;
  unsigned count = 0;
  const auto add = [&](std::uintptr_t sector) {
    if (count == 0 || sectors[count - 1] != sector) sectors[count++] = sector;
  };
  for (const std::uintptr_t address : addresses) {
    add(address / sector_bytes);
    add((address + bytes - 1) / sector_bytes);
  }
  const auto end = sectors.begin() + count;
  if (!std::is_sorted(sectors.begin(), end)) std::sort(sectors.begin(), end);
  return static_cast<unsigned>(std::unique(sectors.begin(), end) - sectors.begin());
}

// ---- which accesses are one ----

namespace {

/// The active lanes of one warp instruction and what they access.
class WarpInstruction {
 public:
  /// \param visit  the number of the access among the lane's own.
  void add(unsigned lane, const LaneAccess& access, std::size_t visit) {
    if (request_.lanes == 0) first_ = access;
    request_.lanes |= bit_of(lane);
    request_.visits[count_] = static_cast<std::uint32_t>(visit);
    addresses_[count_++] = access.address;
  }

  CountedRequest count(Counters& counters) {
    const std::span addresses{addresses_.data(), count_};
    if (is_shared(first_.kind)) {
      const SharedTransactions needed = shared_transactions(addresses, request_.lanes, first_.bytes);
      request_.wavefronts = needed.wavefronts;
      request_.conflicts = needed.conflicts;
    } else {
      request_.sectors = global_sectors(addresses, first_.bytes);
    }
    switch (first_.kind) {
      case EventKind::shared_load:
        ++counters.shared_load_requests;
        counters.shared_load_wavefronts += request_.wavefronts;
        counters.shared_load_conflicts += request_.conflicts;
        counters.shared_load_lanes += count_;
        break;
      case EventKind::shared_store:
        ++counters.shared_store_requests;
        counters.shared_store_wavefronts += request_.wavefronts;
        counters.shared_store_conflicts += request_.conflicts;
        counters.shared_store_lanes += count_;
        break;
      case EventKind::global_load:
        ++counters.global_load_requests;
        counters.global_load_sectors += request_.sectors;
        counters.global_load_lanes += count_;
        break;
      default:
        ++counters.global_store_requests;
        counters.global_store_sectors += request_.sectors;
        counters.global_store_lanes += count_;
        break;
    }
    return request_;
  }

 private:
  LaneAccess first_{};
  CountedRequest request_;
  std::size_t count_ = 0;
  std::array<std::uintptr_t, warp_size> addresses_;
};

bool from_one_place(const LaneAccess& a, const LaneAccess& b) {
  return a.call_site == b.call_site && a.chain == b.chain && a.kind == b.kind && a.bytes == b.bytes;
}

}  // namespace

/// Lanes that did not diverge have logs that agree entry by entry, so each column of entries is an
/// instruction.
void WarpInstructionLog::count_pending(unsigned warp, Counters& counters, BlockRecorder* recorder) {
  const unsigned all = std::exchange(pending_[warp], 0);
  std::array<std::span<const LaneAccess>, warp_size> logs;
  for (const unsigned lane : lanes_of(all))
    logs[lane] = lanes_[warp * warp_size + lane];

  unsigned active = all;
  for (std::size_t column = 0;; ++column) {
    for (const unsigned lane : lanes_of(active)) {
      if (logs[lane].size() == column) active &= ~bit_of(lane);
    }
    if (active == 0) break;
    const LaneAccess& first = logs[*lanes_of(active).begin()][column];
    WarpInstruction instruction;
    bool agree = true;
    for (const unsigned lane : lanes_of(active)) {
      agree = agree && from_one_place(first, logs[lane][column]);
      instruction.add(lane, logs[lane][column], column);
    }
    if (!agree) {
      count_diverged(warp, column, counters, recorder);
      break;
    }
    const CountedRequest counted = instruction.count(counters);
    if (recorder != nullptr) recorder->request(warp, counted);
  }
  for (const unsigned lane : lanes_of(all))
    lanes_[warp * warp_size + lane].clear();
}

/// From entry `begin` on, the lanes went different ways: numbers each lane's visits of each place.
void WarpInstructionLog::count_diverged(unsigned warp, std::size_t begin, Counters& counters,
                                        BlockRecorder* recorder) {
  struct Visit {
    LaneAccess access;
    unsigned lane;
    std::size_t entry;   ///< in the lane's log
    std::size_t number;  ///< among the lane's visits of the place
  };
  std::vector<Visit> visits;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    const auto& log = lanes_[warp * warp_size + lane];
    for (std::size_t i = begin; i < log.size(); ++i)
      visits.push_back({log[i], lane, i, i});
  }
  const auto place = [](const Visit& visit) {
    return std::tuple{visit.access.call_site, visit.access.chain, visit.access.kind, visit.access.bytes};
  };
  const auto by_lane = [&](const Visit& visit) {
    return std::tuple_cat(place(visit), std::tuple{visit.lane, visit.number});
  };
  const auto by_number = [&](const Visit& visit) {
    return std::tuple_cat(place(visit), std::tuple{visit.number, visit.lane});
  };

  std::ranges::sort(visits, {}, by_lane);
  std::size_t number = 0;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    const bool goes_on =
        i != 0 && visits[i - 1].lane == visits[i].lane && place(visits[i - 1]) == place(visits[i]);
    number = goes_on ? number + 1 : 0;
    visits[i].number = number;
  }
  std::ranges::sort(visits, {}, by_number);
  for (auto visit = visits.begin(); visit != visits.end();) {
    WarpInstruction instruction;
    const auto first = visit;
    for (; visit != visits.end() && visit->number == first->number && place(*visit) == place(*first);
         ++visit) {
      instruction.add(visit->lane, visit->access, visit->entry);
    }
    const CountedRequest counted = instruction.count(counters);
    if (recorder != nullptr) recorder->request(warp, counted);
  }
}

void WarpInstructionLog::clear() {
  for (auto& log : lanes_)
    log.clear();
  std::ranges::fill(pending_, 0U);
}

}  // namespace reduction::emulated
