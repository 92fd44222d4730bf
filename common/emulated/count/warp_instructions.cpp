#include "emulated/count/warp_instructions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "emulated/count/lane_alignment.hpp"
#include "emulated/trace/block_recorder.hpp"

namespace __emulated {

// ---- the cost of one warp instruction ----

namespace {

constexpr std::size_t sector_bytes = 32;

/// Whether lanes that are served together ask no bank for two words, as most often.
bool is_without_conflict(std::span<const std::uintptr_t> addresses, std::size_t words_each) {
  std::array<std::uintptr_t, banks> word_of;
  unsigned asked = 0;
  for (const std::uintptr_t address : addresses) {
    for (std::size_t i = 0; i < words_each; ++i) {
      const std::uintptr_t word = address / word_bytes + i;
      const std::size_t bank = word % banks;
      if ((asked >> bank & 1) != 0 && word_of[bank] != word) return false;
      asked |= 1U << bank;
      word_of[bank] = word;
    }
  }
  return true;
}

/// The wavefronts of lanes that are served together: distinct words of a bank, at the bank that has the most.
unsigned wavefronts(std::span<const std::uintptr_t> addresses, std::size_t bytes) {
  const std::size_t words_each = std::max<std::size_t>(1, bytes / word_bytes);
  if (is_without_conflict(addresses, words_each)) return 1;
  std::array<std::array<std::uintptr_t, warp_size>, banks> words;
  std::array<unsigned, banks> distinct{};
  unsigned most = 0;
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

/// Whether each active lane asks for the address of lane ^ distance, or that one is idle.
bool pairs_agree(std::span<const std::uintptr_t> addresses, unsigned lanes, unsigned distance) {
  const auto address_of = [&](unsigned lane) {
    return addresses[static_cast<std::size_t>(std::popcount(lanes & (bit_of(lane) - 1)))];
  };
  for (const unsigned lane : lanes_of(lanes & lanes >> distance))
    if ((lane & distance) == 0 && address_of(lane) != address_of(lane + distance)) return false;
  return true;
}

}  // namespace

SharedTransactions shared_transactions(EventKind kind, std::span<const std::uintptr_t> addresses,
                                       unsigned lanes, std::size_t bytes) {
  unsigned together = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  if (kind == EventKind::shared_load && together < warp_size &&
      (pairs_agree(addresses, lanes, 1) || pairs_agree(addresses, lanes, 2)))
    together *= 2;
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
      const SharedTransactions needed =
          shared_transactions(first_.kind, addresses, request_.lanes, first_.bytes);
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

bool is_of_lower_place(const LaneAccess& a, const LaneAccess& b) {
  const auto place = [](const LaneAccess& access) {
    return std::tuple{access.call_site, access.chain, access.kind, access.bytes};
  };
  return place(a) < place(b);
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
      instruction.add(lane, logs[lane][column], forgotten_[warp * warp_size + lane] + column);
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

/// The lanes went different ways at the entry `begin` of their logs, and what comes before has been counted.
void WarpInstructionLog::count_diverged(unsigned warp, std::size_t begin, Counters& counters,
                                        BlockRecorder* recorder) {
  const auto log_of = [&](unsigned lane) -> const std::vector<LaneAccess>& {
    return lanes_[warp * warp_size + lane];
  };
  std::map<LaneAccess, std::uint32_t, decltype(&is_of_lower_place)> numbers{is_of_lower_place};
  LaneNumbers places;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    for (const LaneAccess& access : log_of(lane)) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      places[lane].push_back(numbers.try_emplace(access, next).first->second);
    }
  }
  const LaneNumbers instructions = align(places, static_cast<std::uint32_t>(numbers.size()));

  // Sorted by instruction, in lanes' order.
  struct Entry {
    std::uint32_t lane, visit;
  };
  std::vector<std::size_t> ends;  // of each instruction's entries; their beginnings while these are put there
  std::size_t count = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    for (std::size_t i = begin; i < log_of(lane).size(); ++i, ++count) {
      const std::size_t instruction = instructions[lane][i];
      if (instruction >= ends.size()) ends.resize(instruction + 1);
      ++ends[instruction];
    }
  }
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::size_t{0});
  std::vector<Entry> entries(count);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    for (std::size_t i = begin; i < log_of(lane).size(); ++i)
      entries[ends[instructions[lane][i]]++] = {lane, static_cast<std::uint32_t>(i)};
  }
  for (std::size_t first = 0; const std::size_t end : ends) {
    if (first == end) continue;
    WarpInstruction instruction;
    for (; first < end; ++first)
      instruction.add(entries[first].lane, log_of(entries[first].lane)[entries[first].visit],
                      forgotten_[warp * warp_size + entries[first].lane] + entries[first].visit);
    const CountedRequest counted = instruction.count(counters);
    if (recorder != nullptr) recorder->request(warp, counted);
  }
}

/// No lane that goes on comes back to before its last visit of a place that all of them have visited as often: the most
/// visited of such places tells where all logs are cut. Of lanes that have left it behind, what they have done last is kept,
/// where none of the others has been yet.
void WarpInstructionLog::count_complete(unsigned warp, unsigned going_on, Counters& counters,
                                        BlockRecorder* recorder) {
  struct Visits {
    unsigned lanes = 0;
    std::size_t least = std::numeric_limits<std::size_t>::max();  ///< of a lane
  };
  using Places = std::map<LaneAccess, Visits, decltype(&is_of_lower_place)>;
  const auto log_of = [&](unsigned lane) -> std::vector<LaneAccess>& {
    return lanes_[warp * warp_size + lane];
  };
  Places places{is_of_lower_place};
  for (const unsigned lane : lanes_of(going_on)) {
    std::map<LaneAccess, std::size_t, decltype(&is_of_lower_place)> of_lane{is_of_lower_place};
    for (const LaneAccess& access : log_of(lane))
      ++of_lane[access];
    for (const auto& [place, count] : of_lane) {
      Visits& visits = places[place];
      visits.lanes |= bit_of(lane);
      visits.least = std::min(visits.least, count);
    }
  }
  auto cut = places.end();
  for (auto place = places.begin(); place != places.end(); ++place) {
    if (place->second.lanes != going_on) continue;
    if (cut == places.end() || place->second.least > cut->second.least) cut = place;
  }
  if (going_on != 0 && cut == places.end()) return;

  std::array<std::vector<LaneAccess>, warp_size> later;
  std::array<std::size_t, warp_size> counted{};
  forgets_ = true;
  unsigned& pending = pending_[warp];
  pending = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    auto& log = log_of(lane);
    auto end = going_on != 0 ? log.begin() : log.end();
    for (std::size_t visits = 0; end != log.end(); ++end)
      if (from_one_place(*end, cut->first) && ++visits == cut->second.least) break;
    if (end == log.end() && going_on != 0) {
      while (end != log.begin() && !places.contains(*std::prev(end)))
        --end;
    }
    later[lane].assign(end, log.end());
    log.erase(end, log.end());
    counted[lane] = log.size();
    if (!log.empty()) pending |= bit_of(lane);
  }
  if (pending != 0) count_pending(warp, counters, recorder);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    forgotten_[warp * warp_size + lane] += counted[lane];
    log_of(lane) = std::move(later[lane]);
    if (!log_of(lane).empty()) pending |= bit_of(lane);
  }
}

void WarpInstructionLog::clear() {
  for (auto& log : lanes_)
    log.clear();
  std::ranges::fill(pending_, 0U);
  std::ranges::fill(forgotten_, std::size_t{0});
}

}  // namespace __emulated
