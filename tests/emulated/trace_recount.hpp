#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "emulated/count/warp_instructions.hpp"
#include "emulated/launches.hpp"
#include "emulated/run/lanes.hpp"

/// What holds of every trace.
namespace __emulated {

/// What the events of a trace amount to, counted again from each of them.
inline Counters counters_of_events(const BlockTrace& trace) {
  Counters counters;
  counters.blocks = 1;
  counters.threads = count(trace.configuration.block);
  counters.barrier_polls = trace.counters.barrier_polls;  // which are no events
  for (const Event& event : trace.events) {
    const auto active = static_cast<unsigned>(std::popcount(event.lanes));
    if (event.kind <= EventKind::shared_copy) {
      request_counters[static_cast<std::size_t>(event.kind)].add(
          {event.wavefronts, event.conflicts, event.sectors}, active, counters);
    }
    if (event.kind == EventKind::bulk_copy) counters.bulk_copy_bytes += event.of_lanes.size() * event.bytes;
    if (event.kind == EventKind::block_barrier) ++counters.block_barriers;
    if (event.kind == EventKind::warp_barrier) ++counters.warp_barriers;
    counters.shuffles += event.shuffles;
    if (is_atomic(event.kind)) counters.atomics += active;
  }
  return counters;
}

/// The first contradiction of the events, or "": what each lane reads is what the events before it have written.
inline std::string contradiction_in(const BlockTrace& trace) {
  using Word = std::array<std::byte, 4>;
  constexpr std::size_t shared_memory = 0;  // or a buffer's number + 1
  std::map<std::pair<std::size_t, std::ptrdiff_t>, Word> memory;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    const auto text = [&](unsigned lane, const std::string& what) {
      return "event " + std::to_string(i) + " (" + std::string{name_of(event.kind)} + " of warp " +
             std::to_string(event.warp) + "), lane " + std::to_string(lane) + ' ' + what;
    };
    std::array<const LaneEvent*, warp_size> at{};
    std::size_t next = 0;
    for (const unsigned lane : lanes_of(event.lanes))
      at[lane] = next < event.of_lanes.size() ? &event.of_lanes[next++] : nullptr;
    for (const unsigned lane : lanes_of(event.lanes)) {
      if (at[lane] == nullptr) return text(lane, "is missing");
      const LaneEvent& self = *at[lane];
      if (event.kind == EventKind::shuffle) {
        const LaneEvent* const source = at[self.source_lane];
        if (source == nullptr) return text(lane, "takes from an idle lane");
        if (std::memcmp(source->before.data(), self.value.data(), event.bytes) != 0)
          return text(lane, "gets another value");
      }
      if (event.kind > EventKind::global_atomic || event.bytes < 4) continue;
      if (!self.is_known) return text(lane, "is not known");
      for (unsigned word = 0; word < event.bytes / 4; ++word) {
        const std::pair cell{is_shared(event.kind) ? shared_memory : self.buffer + 1, self.word + word};
        Word found{};
        std::memcpy(found.data(), (is_load(event.kind) ? self.value : self.before).data() + 4 * word, 4);
        if (is_load(event.kind) || is_atomic(event.kind)) {
          const auto known = memory.find(cell);
          if (known == memory.end() && cell.first == shared_memory)
            return text(lane, "reads what nothing has written");
          if (known != memory.end() && known->second != found)
            return text(lane, "reads another value in word " + std::to_string(cell.second));
        }
        std::memcpy(memory[cell].data(), self.value.data() + 4 * word, 4);
      }
    }
  }
  return "";
}

/// Of a block that came to its end: the events amount to its counters, each lane reads what the events before it have written,
/// and all threads leave. \param replays  false where no order of warp instructions explains what each atomic found.
inline void expect_whole(const BlockTrace& trace, bool replays = true) {
  EXPECT_TRUE(trace.findings.empty()) << trace.findings.front().text;
  EXPECT_FALSE(trace.truncated);
  const Counters recount = counters_of_events(trace);
  for (const NamedCounter& named : counter_names)
    EXPECT_EQ(recount.*named.counter, trace.counters.*named.counter) << named.name;
  if (replays) {
    EXPECT_EQ(contradiction_in(trace), "");
  }
  std::size_t left = 0;
  for (const Event& event : trace.events)
    if (event.kind == EventKind::exit) left += static_cast<std::size_t>(std::popcount(event.lanes));
  EXPECT_EQ(left, count(trace.configuration.block));
}

}  // namespace __emulated
