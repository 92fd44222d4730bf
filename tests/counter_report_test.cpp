#include "harness/counter_report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/device_selection.hpp"
#include "harness/json_report.hpp"
#include "harness/options.hpp"
#include "harness/result.hpp"
#include "harness/stored_result.hpp"
#include "harness/text_file.hpp"
#include "temporary_path.hpp"

namespace reduction {
namespace {

CountedRun counted_run(const char* step, std::uint64_t factor) {
  CountedRun run{step, ElementType::int32, 256, 1000, {}};
  run.counters.blocks = 10;
  run.counters.block_barriers = 90;
  run.counters.shared_load_requests = 950 * factor;
  run.counters.shared_store_requests = 550 * factor;
  return run;
}

TEST(CounterTable, GivesTotalsAndCountsPerBlockAndPerElement) {
  const std::string table = counter_report(counted_run("02", 1), std::nullopt, {});
  EXPECT_NE(table.find("| block barriers | 90 | 9 | 0.09 |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| shared memory requests | 1500 | 150 | 1.5 |\n"), std::string::npos) << table;
  EXPECT_EQ(table.find("atomics"), std::string::npos) << "a counter that no step here uses is left out";
}

TEST(CounterTable, ComparesWithAnotherStep) {
  const std::string table = counter_report(counted_run("02", 1), counted_run("01", 4), {});
  EXPECT_NE(table.find("| per element in 01 | change |"), std::string::npos) << table;
  EXPECT_NE(table.find("| shared memory requests | 1500 | 150 | 1.5 | 6 | ÷ 4 |\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find("| block barriers | 90 | 9 | 0.09 | 0.09 | same |\n"), std::string::npos) << table;
}

TEST(CounterReport, ShowsWhatChangedFirstOnATerminal) {
  CountedRun before = counted_run("02", 1);
  before.counters.shared_load_wavefronts = 6000;
  before.counters.shared_load_conflicts = 4500;
  CountedRun here = counted_run("03", 1);
  here.counters.shared_load_wavefronts = 1500;
  EXPECT_EQ(counter_report(here, before, {true, 58, false}),
            "per block                      02  here  change\n"
            "────────────────────────────  ───  ────  ──────\n"
            "shared memory wavefronts      600   150  ÷ 4\n"
            "shared memory bank conflicts  450     0  gone\n"
            "The same: blocks in total 10, block barriers 9, shared\n"
            "memory requests 150.\n"
            "\n"
            "      shared memory wavefronts per\n"
            "step  block, ░ bank conflicts           count\n"
            "────  ────────────────────────────────  ─────\n"
            "02    ████████░░░░░░░░░░░░░░░░░░░░░░░░    600\n"
            "03    ████████                            150\n");
}

TEST(CounterReport, SaysOnATerminalOfWhatThereIsNone) {
  EXPECT_EQ(counter_report(counted_run("02", 1), std::nullopt, {true, 80, false}),
            "counted                 total  per block  per element\n"
            "──────────────────────  ─────  ─────────  ───────────\n"
            "blocks                     10          1         0.01\n"
            "block barriers             90          9         0.09\n"
            "shared memory requests   1500        150          1.5\n"
            "None: warp barriers, shared memory wavefronts, shared memory bank conflicts,\n"
            "global memory requests, global memory sectors.\n");
}

TEST(CounterReport, SaysOnATerminalThatNothingChanged) {
  const std::string text = counter_report(counted_run("06", 1), counted_run("05", 1), {true, 80, false});
  EXPECT_TRUE(text.starts_with("Per block, nothing that is counted differs from 05.\nThe same: ")) << text;
  EXPECT_EQ(text.find("÷"), std::string::npos) << text;
}

TEST(ReadCountedRun, ReadsWhatJsonWrote) {
  Result result;
  result.step = "05_unroll_warp";
  result.device.name = "emulated H200";
  result.input.n = 77;
  result.block = 256;
  result.passes = {{77, 1}};
  emulated::Counters counters;
  counters.blocks = 1;
  counters.atomics = 5;
  result.pass_counters = {counters};
  const std::filesystem::path file = temporary_path("counter_report_test.json");
  OutputFile json(file.string());
  json.write(json_text(result));
  const CountedRun run = read_counted_run(file.string(), ElementType::int32, 256);
  EXPECT_EQ(run.step, "05_unroll_warp");
  EXPECT_EQ(run.elements, 77u);
  EXPECT_EQ(run.counters, counters);
  EXPECT_THROW(read_counted_run(file.string(), ElementType::int64, 256), UsageError);
  EXPECT_THROW(read_counted_run(file.string(), ElementType::int32, 128), UsageError);
  std::filesystem::remove(file);
}

TEST(ReadCountedRun, RefusesOtherFiles) {
  const std::filesystem::path file = temporary_path("counter_report_test.json");
  for (const char* content : {"", "[]", "{}", R"({"step": "x", "elements": 1, "counters": null})"}) {
    std::ofstream(file) << content;
    EXPECT_THROW(read_counted_run(file.string(), ElementType::int32, 256), UsageError) << content;
  }
  std::filesystem::remove(file);
  EXPECT_THROW(read_counted_run(file.string(), ElementType::int32, 256), UsageError);
}

}  // namespace
}  // namespace reduction
