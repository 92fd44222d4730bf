#include "device/emulated/counting.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "device/emulated/transactions.hpp"

namespace reduction::emulated {
namespace {

/// The active lanes of one warp instruction and what they access.
class WarpInstruction {
 public:
  void add(unsigned lane, const LaneAccess& access) {
    if (lanes_ == 0) first_ = access;
    lanes_ |= bit_of(lane);
    addresses_[count_++] = access.address;
  }

  void count(Counters& counters) const {
    const std::span addresses{addresses_.data(), count_};
    switch (first_.kind) {
      case LaneAccess::Kind::shared_load: {
        const SharedTransactions needed = shared_transactions(addresses, lanes_, first_.bytes);
        ++counters.shared_load_requests;
        counters.shared_load_wavefronts += needed.wavefronts;
        counters.shared_load_conflicts += needed.conflicts;
        counters.shared_load_lanes += count_;
        break;
      }
      case LaneAccess::Kind::shared_store: {
        const SharedTransactions needed = shared_transactions(addresses, lanes_, first_.bytes);
        ++counters.shared_store_requests;
        counters.shared_store_wavefronts += needed.wavefronts;
        counters.shared_store_conflicts += needed.conflicts;
        counters.shared_store_lanes += count_;
        break;
      }
      case LaneAccess::Kind::global_load:
        ++counters.global_load_requests;
        counters.global_load_sectors += global_sectors(addresses, first_.bytes);
        counters.global_load_lanes += count_;
        break;
      case LaneAccess::Kind::global_store:
        ++counters.global_store_requests;
        counters.global_store_sectors += global_sectors(addresses, first_.bytes);
        counters.global_store_lanes += count_;
        break;
    }
  }

 private:
  LaneAccess first_{};
  unsigned lanes_ = 0;
  std::size_t count_ = 0;
  std::array<std::uintptr_t, warp_size> addresses_;
};

bool from_one_place(const LaneAccess& a, const LaneAccess& b) {
  return a.call_site == b.call_site && a.kind == b.kind && a.bytes == b.bytes;
}

}  // namespace

/// Lanes that did not diverge have logs that agree entry by entry, so each column of entries is an
/// instruction.
void WarpInstructionLog::count_pending(unsigned warp, Counters& counters) {
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
      instruction.add(lane, logs[lane][column]);
    }
    if (!agree) {
      count_diverged(warp, column, counters);
      break;
    }
    instruction.count(counters);
  }
  for (const unsigned lane : lanes_of(all))
    lanes_[warp * warp_size + lane].clear();
}

/// From entry `begin` on, the lanes went different ways: numbers each lane's visits of each place.
void WarpInstructionLog::count_diverged(unsigned warp, std::size_t begin, Counters& counters) {
  struct Visit {
    LaneAccess access;
    unsigned lane;
    std::size_t number;
  };
  std::vector<Visit> visits;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    const auto& log = lanes_[warp * warp_size + lane];
    for (std::size_t i = begin; i < log.size(); ++i)
      visits.push_back({log[i], lane, i});
  }
  const auto place = [](const Visit& visit) {
    return std::tuple{visit.access.call_site, visit.access.kind, visit.access.bytes};
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
      instruction.add(visit->lane, visit->access);
    }
    instruction.count(counters);
  }
}

void WarpInstructionLog::clear() {
  for (auto& log : lanes_)
    log.clear();
  std::ranges::fill(pending_, 0U);
}

}  // namespace reduction::emulated
