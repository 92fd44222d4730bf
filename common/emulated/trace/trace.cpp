#include "emulated/trace/trace.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "emulated/run/lanes.hpp"

namespace __emulated {
namespace {

/// What a witness did in an event.
struct Part {
  std::size_t event;
  bool is_shared;
  std::size_t buffer;  ///< of global memory
  std::ptrdiff_t first_word;
  std::ptrdiff_t last_word;
  std::size_t interval;  ///< barriers of the block before it
};

/// The events in which the witness's first thread has made its access, or has left the kernel, in order.
std::vector<Part> parts_of(const Witness& witness, const BlockTrace& trace) {
  std::vector<Part> parts;
  if (witness.block != trace.block || witness.threads.empty()) return parts;
  const unsigned thread = witness.threads.front();
  const bool has_left = witness.call_site == nullptr;
  std::size_t interval = 0;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.kind == EventKind::block_barrier) ++interval;
    const std::uint32_t lane = bit_of(thread % warp_size);
    if (event.warp != thread / warp_size || (event.lanes & lane) == 0) continue;
    if (has_left ? event.kind != EventKind::exit
                 : !is_access(event.kind) || event.call_site != witness.call_site)
      continue;
    const auto index = static_cast<std::size_t>(std::popcount(event.lanes & (lane - 1)));
    const LaneEvent& of_lane = event.of_lanes[index];
    const std::ptrdiff_t more = event.bytes > word_bytes ? event.bytes / word_bytes - 1 : 0;
    parts.push_back({i, is_shared(event.kind), of_lane.buffer, of_lane.word, of_lane.word + more, interval});
  }
  return parts;
}

/// Two accesses of one word that no barrier of the block separates.
bool collide(const Part& one, const Part& other) {
  return one.is_shared == other.is_shared && one.buffer == other.buffer &&
         one.first_word <= other.last_word && other.first_word <= one.last_word &&
         one.interval == other.interval;
}

/// Whether the threads meet at a barrier of their warp between the two events.
bool are_separated(std::size_t one, std::size_t other, const Finding& finding, const BlockTrace& trace) {
  const unsigned first = finding.witnesses[0].threads.front();
  const unsigned second = finding.witnesses[1].threads.front();
  if (first / warp_size != second / warp_size) return false;
  const std::uint32_t both = bit_of(first % warp_size) | bit_of(second % warp_size);
  for (std::size_t i = std::min(one, other) + 1; i < std::max(one, other); ++i) {
    const Event& event = trace.events[i];
    const bool is_of_both = event.warp == first / warp_size && (event.lanes & both) == both;
    if (event.kind == EventKind::warp_barrier && is_of_both) return true;
  }
  return false;
}

std::size_t distance(std::size_t one, std::size_t other) { return one < other ? other - one : one - other; }

/// Of all pairs of events that could be the race, the two that come nearest to each other.
std::optional<std::pair<std::size_t, std::size_t>> nearest_race(const std::vector<Part>& ones,
                                                                const std::vector<Part>& others,
                                                                const Finding& finding,
                                                                const BlockTrace& trace) {
  std::optional<std::pair<std::size_t, std::size_t>> nearest;
  for (const Part& one : ones) {
    for (const Part& other : others) {
      if (!collide(one, other)) continue;
      if (nearest && distance(one.event, other.event) >= distance(nearest->first, nearest->second)) continue;
      if (!are_separated(one.event, other.event, finding, trace)) nearest = {one.event, other.event};
    }
  }
  return nearest;
}

}  // namespace

std::vector<std::optional<std::size_t>> events_of(const Finding& finding, const BlockTrace& trace) {
  std::vector<std::vector<Part>> parts;
  for (const Witness& witness : finding.witnesses)
    parts.push_back(parts_of(witness, trace));
  std::vector<std::optional<std::size_t>> events(parts.size());
  if (finding.fault == Fault::race && parts.size() == 2) {
    if (const auto both = nearest_race(parts[0], parts[1], finding, trace))
      return {both->first, both->second};
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].empty()) events[i] = parts[i].front().event;
  }
  return events;
}

std::string_view name_of(EventKind kind) {
  constexpr std::array<std::string_view, 14> names{
      "shared_load",   "shared_store",  "global_load",   "global_store", "shared_copy",
      "bulk_copy",     "shared_atomic", "global_atomic", "shuffle",      "vote",
      "block_barrier", "warp_barrier",  "fence",         "exit"};
  static_assert(static_cast<std::size_t>(EventKind::exit) + 1 == names.size());
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace __emulated
