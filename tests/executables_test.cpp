/// \file
/// The executables as a shell sees them: exit codes, messages, files. Here they run on the CPU and the emulated device.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "programs_that_need.hpp"
#include "shell.hpp"

namespace reduction {
namespace {

const std::vector<std::string> gpu_steps = programs_that_need({"any", "any-9"});

class Executables : public Shell {};
class LadderTable : public Shell {};

/// What a shell's `>&4` then names is a pipe whose reader has left.
const std::string left_pipe = "mkfifo pipe; exec 3<>pipe 4>pipe 3>&-; rm pipe; ";
// A running sum in float32 stops counting at 2^24: the result is wrong.
const std::string wrong = "00_cpu_serial -n 20000000 -t float32 --data ones -s 1 --device emulated";
const std::string small = "03_sequential -n 1000 --device emulated";

TEST_F(Executables, VerifyAndRefuseWhicheverStepItIs) {
  expect({{"00_cpu_serial -n 5000 --device emulated", 0, {"| yes |"}},
          // complex128: a chunk of 256 MiB holds 2^24 elements, so this takes two.
          {"00_cpu_serial -n 16777300 -t complex128 -s 1 --device emulated --data cancelling"}});
  for (const std::string& step : gpu_steps) {
    EXPECT_EQ(run({step + " -n 5000 --device emulated", 0, {"| yes |"}}).error, "");
    expect_refused({{step + " -n 2^45 --device emulated", 3, {"2^45 int32 need 12", "free"}},
                    {step + " -n abc", 2, {"--elements 'abc'"}}});
  }
  EXPECT_TRUE(lacks_memory(outcome_of("01_interleaved -n 2^45 --device emulated"))) << "as gpu_test asks";
  EXPECT_FALSE(lacks_memory(outcome_of("11_bulk_copy -n 1000 --device cuda:7")));
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
  std::filesystem::create_directory("folder");
  for (const auto& [file, reason] :
       {std::pair<std::string, std::string>("missing/x.json", "No such file or directory"),
        {"command.sh/x.json", "Not a directory"},
        {"folder", "Is a directory"}})
    rows.push_back(
        {small + " --json " + file, 2, {"'" + file + "': " + reason + "; name a file in a folder"}});
  expect_refused(rows);
}

TEST_F(Executables, SayWhatIsMissing) {
  // Of which a toolkit may have some.
  for (const std::string peer :
       {"peer_cub", "peer_cub_gpu_to_gpu", "peer_cub_newer", "peer_cub_not_guaranteed", "peer_thrust",
        "peer_cublas", "peer_cooperative_groups", "peer_fast_cu"}) {
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

TEST_F(Executables, WriteAFileAsAWholeOrLeaveWhatIsThere) {
  std::ofstream("old.json") << "before";
  std::filesystem::create_symlink("old.json", "link.json");
  const std::string all = "echo * .[!.]*", files = "command.sh link.json old.json .[!.]*\n";
  expect({{"(ulimit -f 0; " + small + " --json link.json) 2>/dev/null", 3},
          {"cat old.json; " + all, 0, {"before" + files}},
          // A link stays one, and who has the old file open reads it to its end.
          {"exec 5<old.json; " + small + " -q --json link.json && cat <&5; " + all, 0, {"before" + files}},
          {"[[ -L link.json ]] && python3 -m json.tool old.json"}});
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
          {"solution_04_first_add -n 1000 --trace full.json",
           1,
           {"04_first_add: error: --trace 'full.json': No space"}},
          {small + " -q --trace full.json", 3, {"03_sequential: error: --trace 'full.json': No space"}}});
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
  expect(
      {{small + " -q --json x.json"}, {"cat x.json | " + small + " --compare /dev/stdin", 0, {"| same |"}}});
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

// ---- the ladder's table ----

TEST_F(LadderTable, FailsWhereAResultIsWrong) {
  expect({{"00_cpu_serial -n 1000 -s 1 --device emulated --json x.json"},
          {"ladder_table x.json"},
          {"ladder_table --help", 0, {"Puts the --json files"}}});
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

}  // namespace
}  // namespace reduction
