#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "emulated/findings/report.hpp"

namespace __emulated {

/// Faults of access sites, once for each pair of them: of many the one of the lowest rank, which does not depend on the schedule.
class RankedFaults {
 public:
  using Rank = std::array<std::uint64_t, 6>;

  struct Ranked {
    Rank rank;
    FaultRecord record;
  };

  /// Whether a fault of this rank would be kept.
  bool is_wanted(Fault fault, const void* site, const void* other, const Rank& rank) const {
    const auto known = faults_.find(key_of(fault, site, other));
    return known == faults_.end() || rank < known->second.rank;
  }
  void keep(const void* site, const void* other, Ranked fault) {
    const Fault kind = fault.record.fault;
    faults_.insert_or_assign(key_of(kind, site, other), std::move(fault));
  }
  /// Drops those that say less than a race of the same sites.
  void drop_beside_races(Fault fault) {
    std::erase_if(faults_, [&](const auto& each) {
      const auto& [kind, site, other] = each.first;
      return kind == fault && faults_.contains({Fault::race, site, other});
    });
  }

  std::vector<Ranked> in_order() const {
    std::vector<Ranked> all;
    for (const auto& [key, fault] : faults_)
      all.push_back(fault);
    std::ranges::stable_sort(all, {}, &Ranked::rank);
    return all;
  }
  void clear() { faults_.clear(); }

 private:
  using Key = std::tuple<Fault, const void*, const void*>;
  static Key key_of(Fault fault, const void* site, const void* other) {
    return {fault, std::min(site, other), std::max(site, other)};
  }

  std::map<Key, Ranked> faults_;
};

}  // namespace __emulated
