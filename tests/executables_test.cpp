/// \file
/// The executables as a shell sees them: exit codes, messages, files. Here they run on the CPU and the emulated device.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "harness/published_figures.hpp"
#include "harness/result_json.hpp"
#include "shell.hpp"

namespace reduction {
namespace {

const std::vector<std::string> gpu_steps{"01_interleaved", "02_nondivergent", "03_sequential",
                                         "04_first_add",   "05_unroll_warp",  "06_templated",
                                         "07_cascade",     "08_warp_shuffle", "09_vector_loads",
                                         "10_single_pass", "14_same_bits"};

class Executables : public Shell {};
class LadderTable : public Shell {};

/// What a shell's `>&4` then names is a pipe whose reader has left.
const std::string left_pipe = "mkfifo pipe; exec 3<>pipe 4>pipe 3>&-; rm pipe; ";
// A running sum in float32 stops counting at 2^24: the result is wrong.
const std::string wrong = "00_cpu_serial -n 20000000 -t float32 --data ones -s 1 --device emulated";
const std::string small = "03_sequential -n 1000 --device emulated";

TEST_F(Executables, VerifyAndRefuseWhicheverStepItIs) {
  expect({{"00_cpu_serial -n 5000 --device emulated", 0, {"| yes |"}}});
  for (const std::string& step : gpu_steps) {
    EXPECT_EQ(run({step + " -n 5000 --device emulated", 0, {"| yes |"}}).error, "");
    expect_refused({{step + " -n 2^45 --device emulated", 3, {"2^45 int32 need 12", "free"}},
                    {step + " -n abc", 2, {"--elements 'abc'"}}});
  }
  EXPECT_TRUE(lacks_memory(outcome_of("01_interleaved -n 2^45 --device emulated"))) << "as gpu_test asks";
  EXPECT_FALSE(lacks_memory(outcome_of("11_bulk_copy -n 1000 --device emulated")));
}

TEST_F(Executables, RefuseFilesThatTheyCannotReadOrWrite) {
  std::vector<Row> rows{{small + " --json /proc/nonexistent/x.json", 2, {"/proc/nonexistent/x.json"}},
                        {"00_cpu_serial --json ''", 2},
                        {"ladder_table /missing --json ''",
                         2,
                         {"--json '': give the name of a file, as ./-x if it begins with -\n"}}};
  for (const std::string file : {"/tmp", "/proc/self/mem", "/dev/zero", "/dev/null", "/missing"}) {
    for (const std::string& command :
         {small + " --compare ", std::string("ladder_table "), small + " --trace x.html --trace-beside "})
      rows.push_back({command + file, 2, {file}});
  }
  expect_refused(rows);
}

TEST_F(Executables, SayWhatIsMissing) {
  expect_refused({{"11_bulk_copy -n 1000 --device emulated",
                   3,
                   {"it needs a CUDA device of compute capability 9.0 or higher\n"}}});
  // Of which a toolkit may have some.
  for (const std::string peer : {"peer_cub", "peer_cub_gpu_to_gpu", "peer_cub_not_guaranteed", "peer_thrust",
                                 "peer_cublas", "peer_cooperative_groups"}) {
    if (outcome_of(peer + " --version").exit_code == 127) continue;
    expect_refused({{peer + " -n 1000 --device emulated", 3, {"it needs a CUDA device\n"}}});
  }
  if (cuda_unavailable_reason().empty()) GTEST_SKIP() << "this machine has a CUDA device";
  for (const std::string& step : gpu_steps) {
    expect({{step + " -n 1000", 0, {"no CUDA device here: " + cuda_unavailable_reason()}}});
    expect_refused({{step + " --device cuda", 3, {cuda_unavailable_reason()}},
                    {step + " --device cuda:7", 3, {cuda_unavailable_reason()}}});
  }
}

TEST_F(Executables, AnswerALimitOfTheHost) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves terabytes of the address space";
#endif
  for (const std::string limited : {"ulimit -v 300000; 03_sequential --device emulated -n 2^20",
                                    "ulimit -v 60000; 03_sequential --device emulated -n 2^10"}) {
    const Outcome outcome = run({limited, 3, {"(ulimit -v)"}});
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(lines(outcome.error), 1U) << outcome.error;
  }
  for (const std::string limit : {"ulimit -v 1000000", "ulimit -u 1", "ulimit -n 8"})
    expect({{limit + "; 03_sequential --device emulated -n 2^20"}});
}

// ---- what becomes of their output ----

TEST_F(Executables, SayWhenTheirOutputIsLost) {
  expect({{small + " >/dev/full", 3, {"stdout"}},
          {small + " >&-", 3, {"stdout"}},
          // Their table comes also where the file is lost.
          {small + " -q --json /dev/full", 3, {"| 03_sequential |"}},
          {small + " -q --json x.json && ladder_table x.json --json /dev/full", 3, {"| 03_sequential |"}}});
  EXPECT_EQ(lines(outcome_of(small + " --json /dev/full").error), 1U);
}

TEST_F(Executables, EndWithTheirVerdictWhateverTheStreamsAre) {
  for (const std::string streams : {"2>&-", "2>/dev/full", ">&- 2>&-", ">/dev/full 2>/dev/full", ">&4",
                                    "2>&4", ">&4 2>&4", ">/dev/full", ">&-", "<&- >&- 2>&-"}) {
    const bool lost = streams.find(">/dev/full") == 0 || streams.find(">&-") != std::string::npos;
    expect({{left_pipe + small + " " + streams, lost && streams != "2>&-" ? 3 : 0},
            {left_pipe + wrong + " " + streams, 1},
            {left_pipe + "03_sequential -n abc " + streams, 2},
            {left_pipe + "03_sequential -n 2^45 " + streams, 3}});
  }
}

TEST_F(Executables, KeepTheirVerdictWhereATraceIsLost) {
  std::filesystem::create_symlink("/dev/full", "full.json");
  expect({{"atomic_each -n 16777300 -t float32 --data ones -q --trace full.json",
           1,
           {"atomic_each: error: --trace 'full.json': No space"}},
          {"pitfall unguarded_second_load --trace full.json",
           1,
           {"pitfall: error: --trace 'full.json': No space"}},
          {small + " -q --trace full.json", 3, {"03_sequential: error: --trace 'full.json': No space"}}});
}

TEST_F(Executables, SayOneLineWhateverAFileIsNamed) {
  std::filesystem::create_symlink("/dev/full", "a\nb\x1b[1m.full");
  const std::string name = "$'a\\nb\\x1b[1m'";
  // Of each, the last line names the file; the wrong sum has one before.
  for (const Row& row : {Row{"03_sequential -n 1000 --trace " + name + ".html", 0},
                         Row{"03_sequential -n 1000 -q --json " + name + ".full", 3},
                         Row{wrong + " --json " + name + ".full", 1},
                         Row{"03_sequential -n 1000 --json " + name + "/missing", 2},
                         Row{"03_sequential -n 1000 --compare " + name, 2}, Row{"ladder_table " + name, 2}}) {
    const Outcome outcome = run(row);
    EXPECT_EQ(lines(outcome.error), row.code == 1 ? 2U : 1U) << outcome.error;
    EXPECT_EQ(outcome.error.find('\x1b'), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("a\\x0ab\\x1b[1m"), std::string::npos) << outcome.error;
  }
}

TEST_F(Executables, TakeAReaderWhoLeavesForNoError) {
  const std::string sweep = "01_interleaved --device emulated --sweep block -n 1000 -q --json sweep.json >&4";
  for (const std::string& command :
       {small + " >&4", small + " --json - >&4", sweep,
        std::string("ladder_table sweep.json --json table.json >&4"),
        // Its last sizes would take minutes.
        std::string("timeout 20 01_interleaved --device emulated --sweep size -n 2^28 >&4")})
    EXPECT_EQ(run({left_pipe + command}).error.find("error"), std::string::npos) << command;
  for (const char* file : {"sweep.json", "table.json"})
    EXPECT_EQ(nlohmann::json::parse(std::ifstream(file)).size(), 6U) << "nobody has read the table";
}

TEST_F(Executables, ReadAndWritePipes) {
  const std::string read = "python3 -c 'import json, sys; print(json.load(sys.stdin)[\"step\"])'";
  for (const std::string& command : {small + " --json /dev/stdout 2>/dev/null | " + read,
                                     small + " --json >(" + read + ") >/dev/null; wait $!"})
    EXPECT_EQ(outcome_of(command).out, "03_sequential\n") << command;
  expect({{small + " -q --json x.json && mkfifo pipe"},
          {small + " --compare <(sleep 0.1; cat x.json)", 0, {"| same |"}},
          {small + " --compare /dev/stdin <x.json", 0, {"| same |"}},
          {"cat x.json | " + small + " --compare /dev/stdin", 0, {"| same |"}},
          {"cat x.json >pipe & sleep 0.1; " + small + " --compare pipe", 0, {"| same |"}}});
}

TEST_F(Executables, KeepWhatASweepMeasuredBeforeCtrlC) {
  for (const std::string step : {"00_cpu_serial", "01_interleaved"}) {
    // Its last sizes would take minutes.
    expect({{"env --default-signal=INT " + step +
                 " --device emulated --sweep size -n 2^28 --json x.json &>/dev/null &\n"
                 "for i in {1..3000}; do [[ -e x.json ]] && break; sleep 0.01; done; kill -INT $!; wait $!",
             130}});
    const auto results = nlohmann::json::parse(std::ifstream("x.json"));
    EXPECT_GE(results.size(), 1u) << step;
    EXPECT_LT(results.size(), 19u) << step;
    for (const auto& result : results)
      EXPECT_EQ(result.at("verified"), true);
    std::filesystem::remove("x.json");
  }
}

// ---- what they say ----

TEST_F(Executables, WriteTheResultAsJson) {
  const std::string quiet = run({"04_first_add -n 1000003 -t int64 --device emulated -q --json x.json"}).out;
  EXPECT_EQ(lines(quiet), 3u) << "--quiet prints the table only: " << quiet;
  const auto json = nlohmann::json::parse(std::ifstream("x.json"));
  EXPECT_EQ(json["step"], "04_first_add");
  EXPECT_EQ(json["device"]["kind"], "emulated");
  EXPECT_EQ(json["elements"], 1'000'003);
  EXPECT_EQ(json["verified"], true);
  EXPECT_EQ(json["result"], json["expected"]);
  EXPECT_TRUE(json["ms"].is_null()) << "an emulated run has no GPU's time";
  // The blocks of a step's own size, and those of a sweep.
  EXPECT_EQ(json_of("09_vector_loads -n 100 --device emulated -q")["block"], 256);
  EXPECT_EQ(json_of("10_single_pass -n 100 --device emulated -q")["block"], 1024);
  const auto sweep = json_of("06_templated -n 3000 --sweep block --device emulated -q");
  ASSERT_EQ(sweep.size(), 6u);
  EXPECT_EQ(sweep[0]["block"], 32);
  EXPECT_EQ(sweep[5]["block"], 1024);
  expect_refused({{"06_templated -n 1000 --sweep size", 2},
                  {"03_sequential -n 2^45 --device emulated --sweep block", 3},
                  {"03_sequential -n 2^45 --device emulated --sweep size", 3},
                  {"03_sequential -n 2^45 --device emulated --sweep type", 3}});
}

TEST_F(Executables, CountTheSameInEverySchedule) {
  const auto counters = [](const std::string& options) {
    return json_of("05_unroll_warp -n 10000 --device emulated " + options).at("counters");
  };
  const auto ascending = counters("");
  EXPECT_EQ(ascending["blocks"], 21);
  EXPECT_EQ(ascending["block_barriers"], 63);
  EXPECT_EQ(ascending["shared_load_requests"], 20 * 21);
  for (const char* schedule : {"descending", "random", "random:7"})
    EXPECT_EQ(counters(std::string("--schedule ") + schedule), ascending) << schedule;
  EXPECT_TRUE(counters("--counters off").is_null());
}

TEST_F(Executables, ShowCountersAndNoPublishedTimeBesideThem) {
  expect({{"02_nondivergent -n 2^16 --device emulated --json x.json"},
          {"03_sequential -n 2^16 --device emulated --compare x.json",
           0,
           {"| shared memory wavefronts | 11565 | 45 | 0.1765 | 0.5882 | ÷ 3.33 |"}},
          // Of a library no passes are counted.
          {"14_same_bits -n 5000 -t float32 --device emulated",
           0,
           {"| 14_same_bits | float32 | 5000 | – | – | – | yes |\n", "\n| blocks | 1 |"}}});
  for (const std::string options : {"", " --counters off"})
    EXPECT_EQ(outcome_of(small + options).out.find("documented"), std::string::npos);
}

TEST_F(Executables, StopCountingWhereAFloatDoes) {
  expect({{"atomic_each -n 2^25 -t float32 --data ones --device emulated --counters off -q",
           1,
           {"WRONG: 16777216, expected 33554432"}},
          {"00_cpu_serial --data ones -n 2^25 -t float32 -s 1 --device emulated",
           1,
           {"running sum: WRONG: 16777216, expected 33554432; the error 1.67772e+07",
            "tree: 33554432, error 0"}},
          // complex128: a chunk of 256 MiB holds 2^24 elements, so this takes two.
          {"00_cpu_serial -n 16777300 -t complex128 -s 1 --device emulated --data cancelling"}});
}

// ---- the ladder's table ----

TEST_F(LadderTable, FailsWhereAResultIsWrong) {
  expect({{"00_cpu_serial -n 1000 -s 1 --device emulated --json x.json"}, {"ladder_table x.json"}});
  for (const char* key : {"/verified", "/other_variants/0/verified"}) {
    auto json = nlohmann::json::parse(std::ifstream("x.json"));
    json[nlohmann::json::json_pointer(key)] = false;
    std::ofstream("wrong.json") << json;
    // Right ones beside it do not make up for it.
    expect({{"ladder_table wrong.json", 1, {"**NO**"}}, {"ladder_table x.json wrong.json x.json", 1}});
  }
  for (const char* text : {"no json", "[]", "{}", "[1]"}) {
    std::ofstream("x.json") << text;
    expect_refused({{"ladder_table x.json", 2}});
  }
}

TEST_F(LadderTable, ComparesLikeWithLikeInASweep) {
  for (const std::string step : {"01_interleaved", "02_nondivergent"})
    expect({{step + " -n 4096 --sweep block --device emulated -q --json " + step}});
  const Outcome outcome = run({"ladder_table 0* --json -", 0, {"| 02_nondivergent | int32 | 2^12 | 1024 |"}});
  EXPECT_EQ(nlohmann::json::parse(outcome.out).size(), 12u);
}

TEST_F(LadderTable, ShowsWhatABlockCounts) {
  for (const std::string step : {"01_interleaved", "02_nondivergent", "03_sequential"})
    expect({{step + " -n 2^16 --device emulated -q --json " + step}});
  // Barriers, requests, lanes per request, wavefronts, and the wavefronts of 257 blocks per element.
  expect({{"ladder_table 0*",
           0,
           {"| 01_interleaved | 2 | 257 | 9 | 150 | 6.81 | 150 | 0.5882 | yes |",
            "| 02_nondivergent | 2 | 257 | 9 | 45 | 22.71 | 150 | 0.5882 | yes |",
            "| 03_sequential | 2 | 257 | 9 | 45 | 22.71 | 45 | 0.1765 | yes |"}}});
}

/// A result as a run of the step on a GPU would write it.
Result gpu_result(const std::string& step, double ms, unsigned block) {
  Result result;
  result.step = step;
  result.device.kind = DeviceKind::cuda;
  result.device.name = "Some GPU";
  result.device.peak_gbps = 2000;
  result.input.n = 250'000'000;  // 1 GB
  result.block = block;
  result.ms = Summary{.median = ms};
  result.verdict.verified = true;
  return result;
}

class LadderOf : public Shell {
 protected:
  static std::string ladder_of(const std::vector<Result>& results) {
    std::ofstream("x.json") << json_text(results);
    return run({"ladder_table x.json"}).out;
  }
};

TEST_F(LadderOf, GivesEachStepsShareOfCubAndOfTheStepBefore) {
  auto cpu = gpu_result("00_cpu_serial", 800, 0);
  cpu.device.kind = DeviceKind::cpu;
  auto half = gpu_result("09_vector_loads", 1, 256);
  half.input.n /= 2;
  const auto step = gpu_result("03_sequential", 4, 256);
  const std::string two = ladder_of({step, gpu_result("peer_cub", 1, 0)});
  const std::string six =
      ladder_of({cpu, gpu_result("01_interleaved", 8, 256), gpu_result("09_vector_loads", 2, 256),
                 gpu_result("10_single_pass", 1, 1024), gpu_result("peer_cub", 2, 0),
                 gpu_result("12_any_operation", 0.5, 0)});
  for (const char* row : {"| × 01 | % of CUB | verified |\n",
                          "| 03_sequential | 4.0000 | 250.0 | 12.5 | – | – | 25.0 | yes |\n",
                          "| peer_cub | 1.0000 | 1000.0 | 50.0 | – | – | 100.0 | yes |\n",
                          "| 00_cpu_serial | 800.0000 | 1.2 | 0.1 | – | – | – | yes |\n",
                          "| 01_interleaved | 8.0000 | 125.0 | 6.2 | – | 1.00 | 25.0 | yes |\n",
                          "| 10_single_pass | 1.0000 | 1000.0 | 50.0 | 2.00 | 8.00 | 200.0 | yes |\n",
                          "| peer_cub | 2.0000 | 500.0 | 25.0 | – | 4.00 | 100.0 | yes |\n",
                          "| 12_any_operation | 0.5000 | 2000.0 | 100.0 | 2.00 | 16.00 | 400.0 | yes |\n"})
    EXPECT_NE((two + six).find(row), std::string::npos) << row << two << six;
  EXPECT_EQ(ladder_of({step}).find("CUB"), std::string::npos);
  // Of another number of elements, it is no step before.
  EXPECT_NE(ladder_of({half, gpu_result("10_single_pass", 1, 1024)}).find("| 50.0 | – | – | yes |\n"),
            std::string::npos);
}

/// This repository's own results come last, a table for each card; they change with each measurement.
std::string own(const std::string& step, bool in_rows) {
  std::string text;
  for (const PublishedTable& table : published_tables()) {
    if (!table.label.starts_with("this repository")) continue;
    const PublishedFigure& figure = *find_published(table, step);
    text += in_rows ? fmt::format("| {} | {} | {} | {} | {} |\n", table.label, table.gpu, table.input,
                                  figure.gbps, figure.percent)
                    : fmt::format(" {} ({}) |", figure.percent, figure.gbps);
  }
  return text;
}

TEST_F(LadderOf, EndsWithWhatOthersHavePublished) {
  const std::string timed = ladder_of({gpu_result("03_sequential", 4, 256), gpu_result("peer_cub", 1, 0)});
  EXPECT_NE(timed.find("\n| step | here: Some GPU | Harris 2007: G80, 2^22 int32, block 128 | "),
            std::string::npos)
      << timed;
  EXPECT_NE(timed.find("| 03_sequential | 12.5 (250.0) | 11.3 (9.741) | – | 41.3 (185.1) | 35.4 (331) |" +
                       own("03_sequential", false) + "\n| peer_cub | 50.0 (1000.0) | – | – | – | – |" +
                       own("peer_cub", false) + "\n"),
            std::string::npos)
      << timed;
}

TEST(PublishedText, HasARowOfEachTableThatHasTheStep) {
  const std::string text = published_text("03_sequential");
  EXPECT_TRUE(text.starts_with("| documented | GPU | input | GB/s | % of peak |\n")) << text;
  EXPECT_TRUE(
      text.ends_with("| blog 2025 | RTX 3090 | 2^25 float32 | 331 | 35.4 |\n" + own("03_sequential", true)))
      << text;
  EXPECT_NE(published_text("atomic_each").find("| blog 2025 | RTX 3090 | 2^25 float32 | 2.47 | 0.3 |\n"),
            std::string::npos);
  EXPECT_EQ(published_text("14_same_bits"), "");
}

}  // namespace
}  // namespace reduction
