#include "emulated/count/lane_alignment.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

namespace __emulated {
namespace {

/// A part of each lane's accesses: from the one number `begin` up to `end`.
struct Segment {
  std::array<std::uint32_t, warp_size> begin{};
  std::array<std::uint32_t, warp_size> end{};

  unsigned lanes() const {
    unsigned lanes = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane)
      if (begin[lane] < end[lane]) lanes |= bit_of(lane);
    return lanes;
  }
};

/// How often the lanes of a segment pass a place.
struct Visits {
  unsigned lanes = 0;                                               ///< that pass it
  std::uint32_t least = std::numeric_limits<std::uint32_t>::max();  ///< of these lanes
  std::uint32_t most = 0;
  unsigned first = 0;  ///< lanes of which it is the first access,
  unsigned last = 0;   ///< and the last

  bool begins() const { return first == lanes; }
  bool ends() const { return last == lanes; }
};

class Alignment {
 public:
  Alignment(const LaneNumbers& places, std::uint32_t count)
      : places_{places}, seen_(count, 0), number_(count, 0), visits_(count) {}

  LaneNumbers run() {
    Segment all;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      all.end[lane] = static_cast<std::uint32_t>(places_[lane].size());
      instructions_[lane].resize(places_[lane].size());
    }
    add(all);
    while (!left_.empty()) {
      Segment segment = left_.back();
      left_.pop_back();
      align(segment);
    }
    return std::move(instructions_);
  }

 private:
  std::uint32_t place(unsigned lane, std::uint32_t access) const { return places_[lane][access]; }

  /// Puts off a segment, unless it is done at once: where no lane passes a place twice, each place is an instruction.
  void add(const Segment& segment) {
    const unsigned lanes = segment.lanes();
    if (std::popcount(lanes) <= 1) {
      for (const unsigned lane : lanes_of(lanes))
        for (std::uint32_t i = segment.begin[lane]; i < segment.end[lane]; ++i)
          instructions_[lane][i] = next_++;
      return;
    }
    for (const unsigned lane : lanes_of(lanes)) {
      ++stamp_;
      for (std::uint32_t i = segment.begin[lane]; i < segment.end[lane]; ++i) {
        std::uint64_t& seen = seen_[place(lane, i)];
        if (seen == stamp_) return left_.push_back(segment);
        seen = stamp_;
      }
    }
    ++stamp_;
    for (const unsigned lane : lanes_of(lanes)) {
      for (std::uint32_t i = segment.begin[lane]; i < segment.end[lane]; ++i) {
        const std::uint32_t here = place(lane, i);
        if (seen_[here] != stamp_) number_[here] = next_++;
        seen_[here] = stamp_;
        instructions_[lane][i] = number_[here];
      }
    }
  }

  void align(Segment& segment) {
    count_visits(segment);
    if (peel(segment)) return add(segment);
    if (split_by_lanes(segment)) return;
    split_at(anchor(segment), segment);
  }

  void count_visits(const Segment& segment) {
    for (const std::uint32_t here : passed_)
      visits_[here] = {};
    passed_.clear();
    for (const unsigned lane : lanes_of(segment.lanes())) {
      in_lane_.clear();
      ++stamp_;
      for (std::uint32_t i = segment.begin[lane]; i < segment.end[lane]; ++i) {
        const std::uint32_t here = place(lane, i);
        if (seen_[here] != stamp_) {
          seen_[here] = stamp_;
          number_[here] = 0;
          in_lane_.push_back(here);
        }
        ++number_[here];
      }
      for (const std::uint32_t here : in_lane_) {
        Visits& visits = visits_[here];
        if (visits.lanes == 0) passed_.push_back(here);
        visits.lanes |= bit_of(lane);
        visits.least = std::min(visits.least, number_[here]);
        visits.most = std::max(visits.most, number_[here]);
      }
      visits_[place(lane, segment.begin[lane])].first |= bit_of(lane);
      visits_[place(lane, segment.end[lane] - 1)].last |= bit_of(lane);
    }
  }

  /// Takes places off both ends that all lanes have there, and pass once. Returns whether there were any.
  bool peel(Segment& segment) {
    bool any = false;
    for (const bool at_begin : {true, false}) {
      while (peel_one(segment, at_begin))
        any = true;
    }
    return any;
  }

  /// Makes an instruction of the first, or last, accesses of the lanes if they are of one place that no lane passes again.
  bool peel_one(Segment& segment, bool at_begin) {
    const unsigned lanes = segment.lanes();
    if (lanes == 0) return false;
    const auto access_of = [&](unsigned lane) {
      return at_begin ? segment.begin[lane] : segment.end[lane] - 1;
    };
    const unsigned first = *lanes_of(lanes).begin();
    const std::uint32_t here = place(first, access_of(first));
    if (visits_[here].most > 1) return false;
    for (const unsigned lane : lanes_of(lanes))
      if (place(lane, access_of(lane)) != here) return false;
    for (const unsigned lane : lanes_of(lanes)) {
      instructions_[lane][access_of(lane)] = next_;
      at_begin ? ++segment.begin[lane] : --segment.end[lane];
    }
    ++next_;
    return true;
  }

  /// Lanes that have no place in common, directly or by way of others, have nothing to do with each other.
  bool split_by_lanes(const Segment& segment) {
    std::vector<unsigned> groups;
    for (const std::uint32_t here : passed_) {
      unsigned group = visits_[here].lanes;
      std::erase_if(groups, [&](unsigned other) {
        const bool meets = (other & group) != 0;
        if (meets) group |= other;
        return meets;
      });
      groups.push_back(group);
    }
    if (groups.size() == 1) return false;
    for (const unsigned group : groups) {
      Segment part;
      for (const unsigned lane : lanes_of(group)) {
        part.begin[lane] = segment.begin[lane];
        part.end[lane] = segment.end[lane];
      }
      add(part);
    }
    return true;
  }

  /// The place that is most likely one of each pass of the outermost loop.
  std::uint32_t anchor(const Segment& segment) const {
    const unsigned all = segment.lanes();
    const auto rank = [&](std::uint32_t here) {
      const Visits& visits = visits_[here];
      const auto most = static_cast<std::int64_t>(visits.most);
      const std::int64_t spread = most - visits.least;
      const bool is_of_all = visits.lanes == all;
      // All lanes pass it equally often, but that some may have a pass of the loop more.
      const bool is_regular = is_of_all && spread <= 1;
      // Each pass begins or ends with it: of an inner loop and what surrounds it, the latter has fewer visits.
      const bool is_border = visits.begins() || visits.ends();
      const int others = is_regular ? 0 : is_of_all ? 2 : 4;
      if (is_border) return is_regular ? std::tuple{others, spread, most} : std::tuple{others, most, spread};
      // What is under a condition has fewer visits than what is not.
      return std::tuple{others + 1, -most, spread};
    };
    return *std::ranges::min_element(passed_, {}, rank);
  }

  /// The k-th visits of the anchor are an instruction. What lanes do before, between and behind them is aligned on its own.
  void split_at(std::uint32_t anchor, const Segment& segment) {
    const unsigned lanes = segment.lanes();
    const std::uint32_t most = visits_[anchor].most;
    const bool begins = visits_[anchor].begins();
    std::array<std::vector<std::uint32_t>, warp_size> visits;
    const std::uint64_t between = ++stamp_;
    for (const unsigned lane : lanes_of(lanes)) {
      for (std::uint32_t i = segment.begin[lane]; i < segment.end[lane]; ++i)
        if (place(lane, i) == anchor) visits[lane].push_back(i);
      if (visits[lane].empty()) continue;
      for (std::uint32_t i = visits[lane].front(); i < visits[lane].back(); ++i)
        seen_[place(lane, i)] = between;
      for (std::uint32_t k = 0; k < visits[lane].size(); ++k)
        instructions_[lane][visits[lane][k]] = next_ + k;
    }
    next_ += most;

    // Where the part begins that has nothing of the loop any more: it is behind the last visits of all lanes.
    std::array<std::uint32_t, warp_size> behind{};
    for (const unsigned lane : lanes_of(lanes)) {
      behind[lane] = segment.end[lane];
      if (visits[lane].empty()) {
        if (begins) behind[lane] = segment.begin[lane];
        continue;
      }
      while (behind[lane] > visits[lane].back() + 1 && seen_[place(lane, behind[lane] - 1)] != between)
        --behind[lane];
    }
    for (std::uint32_t k = 0; k <= most; ++k) {
      Segment part;
      for (const unsigned lane : lanes_of(lanes)) {
        const auto& own = visits[lane];
        if (k <= own.size()) {
          part.begin[lane] = k == 0 ? segment.begin[lane] : own[k - 1] + 1;
          part.end[lane] = k < own.size() ? own[k] : k == most ? segment.end[lane] : behind[lane];
        } else if (k == most) {
          part.begin[lane] = behind[lane];
          part.end[lane] = segment.end[lane];
        }
      }
      add(part);
    }
  }

  const LaneNumbers& places_;
  LaneNumbers instructions_;
  std::uint32_t next_ = 0;
  std::vector<Segment> left_;
  std::vector<std::uint64_t> seen_;    ///< for each place, the stamp of who has passed it last
  std::vector<std::uint32_t> number_;  ///< for each place, of what is being counted
  std::vector<Visits> visits_;         ///< for each place, in the segment that is being aligned
  std::vector<std::uint32_t> passed_;  ///< in that segment
  std::vector<std::uint32_t> in_lane_;
  std::uint64_t stamp_ = 0;
};

}  // namespace

LaneNumbers align(const LaneNumbers& places, std::uint32_t count) { return Alignment{places, count}.run(); }

}  // namespace __emulated
