#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "emulated/deletions.hpp"
#include "emulated/device_array.hpp"
#include "emulated/trace_recount.hpp"

/// Kernels in rows, each run in several schedules, on one host thread and on several.
namespace __emulated {

// Counters of a row.
inline constexpr auto loads = &Counters::global_load_requests;
inline constexpr auto load_sectors = &Counters::global_load_sectors;
inline constexpr auto load_lanes = &Counters::global_load_lanes;
inline constexpr auto stores = &Counters::global_store_requests;
inline constexpr auto store_sectors = &Counters::global_store_sectors;
inline constexpr auto store_lanes = &Counters::global_store_lanes;
inline constexpr auto shared_loads = &Counters::shared_load_requests;
inline constexpr auto shared_load_wavefronts = &Counters::shared_load_wavefronts;
inline constexpr auto shared_load_conflicts = &Counters::shared_load_conflicts;
inline constexpr auto shared_load_lanes = &Counters::shared_load_lanes;
inline constexpr auto shared_stores = &Counters::shared_store_requests;
inline constexpr auto shared_store_wavefronts = &Counters::shared_store_wavefronts;
inline constexpr auto shared_store_conflicts = &Counters::shared_store_conflicts;
inline constexpr auto shared_store_lanes = &Counters::shared_store_lanes;
inline constexpr auto atomics = &Counters::atomics;

/// How far the traces of a kernel's blocks go.
enum class Traces {
  replay,  ///< what each lane reads is what the events before it have written
  add_up,  ///< to the counters, but no order of warp instructions explains what each atomic found
  too_long
};

struct KernelRow {
  std::string name;
  std::function<void()> run;  ///< launches once, and may look at what came of it
  std::vector<std::pair<NamedCounter::Member, std::uint64_t>> counted{};  ///< by hand
  Traces traces = Traces::replay;
};

/// What a row counts is what it says, in every schedule and on any number of host threads, and what its traces add up to.
inline void sweep(const std::vector<KernelRow>& rows) {
  for (const KernelRow& row : rows) {
    SCOPED_TRACE(row.name);
    set_host_threads(1);
    const Counters counters = counters_of(row.run);
    set_host_threads(0);
    for (const auto& [counter, expected] : row.counted) {
      for (const NamedCounter& named : counter_names)
        if (named.counter == counter) {
          EXPECT_EQ(counters.*counter, expected) << named.name;
        }
    }
    for (const Schedule schedule : {Schedule{}, Schedule{Order::descending, 0}, Schedule{Order::random, 1},
                                    Schedule{Order::random, 2}}) {
      SCOPED_TRACE(static_cast<int>(schedule.order) * 10 + static_cast<int>(schedule.seed));
      set_schedule(schedule);
      EXPECT_TRUE(counters_of(row.run) == counters);
      Counters sum;
      for (std::size_t block = 0; block < counters.blocks && row.traces != Traces::too_long; ++block) {
        const BlockTrace trace = trace_of(row.run, block);
        expect_whole(trace, row.traces == Traces::replay);
        sum += trace.counters;
      }
      EXPECT_TRUE(row.traces == Traces::too_long || sum == counters);
      set_schedule({});
    }
    deletable::expect_all_needed(row.run);
  }
}

/// A faulty launch.
struct FindingRow {
  std::string start;  ///< of the finding's text
  std::function<void()> run;
  std::string part{};  ///< of it, too
};

inline void expect_findings(const std::vector<FindingRow>& rows) {
  for (const FindingRow& row : rows) {
    const std::string text = finding_of(row.run);
    EXPECT_TRUE(text.starts_with(row.start) && text.find(row.part) != std::string::npos)
        << '"' << text << "\", not \"" << row.start << "\" ... \"" << row.part << '"';
  }
}

}  // namespace __emulated
