/// On a terminal. In Markdown the steps' pages have it (`python3 -m tools check-pages`).
#include "harness/counter_report.hpp"

#include <gtest/gtest.h>

namespace reduction {
namespace {

Result counted_run(const char* step, std::uint64_t factor) {
  Result run;
  run.step = step;
  run.input.n = 1000;
  run.pass_counters.resize(1);
  run.pass_counters.front().blocks = 10;
  run.pass_counters.front().block_barriers = 90;
  run.pass_counters.front().shared_load_requests = 950 * factor;
  run.pass_counters.front().shared_store_requests = 550 * factor;
  return run;
}

TEST(CounterReport, ShowsWhatChangedOnATerminal) {
  Result before = counted_run("02", 1);
  before.pass_counters.front().shared_load_wavefronts = 6000;
  before.pass_counters.front().shared_load_conflicts = 4500;
  Result here = counted_run("03", 1);
  here.pass_counters.front().shared_load_wavefronts = 1500;
  EXPECT_EQ(counter_report(here, before, {true, 80, false}),
            "change  shared memory wavefronts per block      600  →  150  ÷ 4\n"
            "        shared memory bank conflicts per block  450  →    0  gone\n");
}

/// A block of twice the elements does more, and each element takes less.
TEST(CounterReport, IsPerElementWhereTheTileChanged) {
  Result here = counted_run("04", 1);
  here.input.n *= 2;
  EXPECT_EQ(counter_report(here, counted_run("03", 1), {true, 80, false}),
            "change  blocks per element                  0.01  →  0.005  ÷ 2\n"
            "        block barriers per element          0.09  →  0.045  ÷ 2\n"
            "        shared memory requests per element   1.5  →   0.75  ÷ 2\n"
            "03 was run over 1000 elements, this over 2000.\n");
}

TEST(CounterReport, NamesThePageWhereNothingChanged) {
  EXPECT_EQ(counter_report(counted_run("06_templated", 1), counted_run("05", 1), {true, 80, false}),
            "change  nothing that is counted here; 06_templated/README.md has the\n"
            "        instructions that it saves\n");
  EXPECT_EQ(counter_report(counted_run("08_mine", 1), counted_run("07_cascade", 1), {true, 80, false}),
            "change  nothing that is counted here\n");
}

}  // namespace
}  // namespace reduction
