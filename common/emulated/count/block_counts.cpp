#include "emulated/count/block_counts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "emulated/count/lane_alignment.hpp"
#include "emulated/count/warp_instructions.hpp"
#include "emulated/trace/block_recorder.hpp"

namespace __emulated {
namespace {

/// Accesses of a thread, since its warp last met, from which on they are counted early.
constexpr std::size_t least_pending = std::size_t{1} << 8;

/// And so many at most are kept until it is known which of them are one instruction.
constexpr std::size_t most_pending = std::size_t{1} << 16;

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

  /// \param places, recorder  that are told of it, too, or nullptr.
  void count(unsigned warp, Counters& counters, PlaceCounts* places, BlockRecorder* recorder) {
    const std::span<const std::uintptr_t> addresses{addresses_.data(), count_};
    request_.cost = cost_of(first_.kind(), addresses, request_.lanes, first_.bytes());
    const RequestCounters& own = request_counters[static_cast<std::size_t>(first_.kind())];
    own.add(request_.cost, count_, counters);
    if (places != nullptr) {
      PlaceCounters& here = (*places)[first_.site()];
      own.add(request_.cost, count_, here.counters);
      if (!is_shared(first_.kind())) here.fewest_sectors += fewest_sectors(addresses, first_.bytes());
    }
    if (recorder != nullptr) recorder->request(warp, request_);
  }

 private:
  LaneAccess first_{};
  CountedRequest request_;
  std::size_t count_ = 0;
  std::array<std::uintptr_t, warp_size> addresses_;
};

}  // namespace

void BlockCounts::begin_block(unsigned threads, PlaceCounts* places, BlockRecorder* recorder) {
  counters_ = {.blocks = 1, .threads = threads};
  places_ = places;
  recorder_ = recorder;
  warps_ = (threads + warp_size - 1) / warp_size;
  count_after_.assign(count_after_.size(), least_pending);
}

void BlockCounts::warp_sync(const WarpSync& met) {
  if (met.kind == EventKind::shuffle) counters_.shuffles += shuffles_for(met.bytes);
  if (met.kind == EventKind::warp_barrier) ++counters_.warp_barriers;
  // Accesses before and after are different instructions.
  if (met.is_of_whole_warp()) count_warp(met.warp);
}

void BlockCounts::block_sync() {
  ++counters_.block_barriers;
  count_warps();
}

void BlockCounts::count_warp(unsigned warp) {
  if (pending_[warp] != 0) count_pending(warp);
  if (forgets_) std::fill_n(forgotten_.begin() + warp * warp_size, warp_size, std::size_t{0});
  if (recorder_ != nullptr) recorder_->end_warp_interval(warp);
}

void BlockCounts::count_warps() {
  for (unsigned warp = 0; warp < warps_; ++warp)
    count_warp(warp);
}

bool BlockCounts::may_count_early(unsigned thread) const {
  return logs_[thread].size() >= count_after_[thread / warp_size] &&
         (recorder_ == nullptr || recorder_->is_full());
}

void BlockCounts::count_early(unsigned thread, unsigned going_on) {
  const unsigned warp = thread / warp_size;
  count_complete(warp, going_on);
  if (logs_[thread].size() > most_pending) count_complete(warp, 0);
  count_after_[warp] = 2 * logs_[thread].size() + least_pending;
}

Counters BlockCounts::end_block(bool is_complete) {
  if (!is_complete && recorder_ == nullptr) {
    for (auto& log : logs_)
      log.clear();
    std::ranges::fill(pending_, 0U);
  }
  count_warps();
  return counters_;
}

// ---- which accesses are one ----

/// Lanes that did not diverge have logs that agree entry by entry, so each column of entries is an
/// instruction.
void BlockCounts::count_pending(unsigned warp) {
  const unsigned all = std::exchange(pending_[warp], 0);
  std::array<std::span<const LaneAccess>, warp_size> logs;
  for (const unsigned lane : lanes_of(all))
    logs[lane] = log_of(warp, lane);

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
      agree = agree && first.place == logs[lane][column].place;
      instruction.add(lane, logs[lane][column], forgotten_[warp * warp_size + lane] + column);
    }
    if (!agree) {
      count_diverged(warp, column);
      break;
    }
    instruction.count(warp, counters_, places_, recorder_);
  }
  for (const unsigned lane : lanes_of(all))
    log_of(warp, lane).clear();
}

/// The lanes went different ways at the entry `begin` of their logs, and what comes before has been counted.
void BlockCounts::count_diverged(unsigned warp, std::size_t begin) {
  std::map<std::uint64_t, std::uint32_t> numbers;  // of places
  LaneNumbers places;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    for (const LaneAccess& access : log_of(warp, lane)) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      places[lane].push_back(numbers.try_emplace(access.place, next).first->second);
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
    for (std::size_t i = begin; i < log_of(warp, lane).size(); ++i, ++count) {
      const std::size_t instruction = instructions[lane][i];
      if (instruction >= ends.size()) ends.resize(instruction + 1);
      ++ends[instruction];
    }
  }
  std::exclusive_scan(ends.begin(), ends.end(), ends.begin(), std::size_t{0});
  std::vector<Entry> entries(count);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    for (std::size_t i = begin; i < log_of(warp, lane).size(); ++i)
      entries[ends[instructions[lane][i]]++] = {lane, static_cast<std::uint32_t>(i)};
  }
  for (std::size_t first = 0; const std::size_t end : ends) {
    if (first == end) continue;
    WarpInstruction instruction;
    for (; first < end; ++first) {
      const auto [lane, visit] = entries[first];
      instruction.add(lane, log_of(warp, lane)[visit], forgotten_[warp * warp_size + lane] + visit);
    }
    instruction.count(warp, counters_, places_, recorder_);
  }
}

/// No lane that goes on comes back to before its last visit of a place that all of them have visited as often: the most
/// visited of such places tells where all logs are cut. Of lanes that have left it behind, what they have done last is kept,
/// where none of the others has been yet.
void BlockCounts::count_complete(unsigned warp, unsigned going_on) {
  struct Visits {
    unsigned lanes = 0;
    std::size_t least = std::numeric_limits<std::size_t>::max();  ///< of a lane
  };
  std::map<std::uint64_t, Visits> places;
  for (const unsigned lane : lanes_of(going_on)) {
    std::map<std::uint64_t, std::size_t> of_lane;
    for (const LaneAccess& access : log_of(warp, lane))
      ++of_lane[access.place];
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
    auto& log = log_of(warp, lane);
    auto end = going_on != 0 ? log.begin() : log.end();
    for (std::size_t visits = 0; end != log.end(); ++end)
      if (end->place == cut->first && ++visits == cut->second.least) break;
    if (end == log.end() && going_on != 0) {
      while (end != log.begin() && !places.contains(std::prev(end)->place))
        --end;
    }
    later[lane].assign(end, log.end());
    log.erase(end, log.end());
    counted[lane] = log.size();
    if (!log.empty()) pending |= bit_of(lane);
  }
  if (pending != 0) count_pending(warp);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    forgotten_[warp * warp_size + lane] += counted[lane];
    log_of(warp, lane) = std::move(later[lane]);
    if (!log_of(warp, lane).empty()) pending |= bit_of(lane);
  }
}

}  // namespace __emulated
