/// \file
/// --trace as a shell sees it: the files, what is refused, and what becomes of them when a run fails.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "run_executable.hpp"
#include "temporary_path.hpp"

namespace reduction {
namespace {

using Json = nlohmann::json;

std::string text_of(const std::filesystem::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// A folder of this test's own, which goes with it.
class TraceFiles : public testing::Test {
 protected:
  TraceFiles() : folder_(temporary_path("trace")) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~TraceFiles() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// The trace of a run that has to succeed.
  Json trace_of(const std::string& step, const std::string& arguments) const {
    const Outcome outcome =
        run_step_executable(step, fmt::format("{} -q --trace '{}'", arguments, path("trace.json")));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    EXPECT_EQ(outcome.error, "") << "--quiet";
    return Json::parse(text_of(path("trace.json")));
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(TraceFiles, HaveTheSourceAndTheLineOfEachEvent) {
  const Json trace = trace_of("03_sequential", "-n 1000 -b 64");
  EXPECT_EQ(trace["format"], "reduction trace");
  EXPECT_EQ(trace["program"], "03_sequential");
  EXPECT_EQ(trace["kernel"], "reduce_kernel");
  EXPECT_EQ(trace["launch"]["grid"], Json::parse("[16, 1, 1]"));
  EXPECT_EQ(trace["launch"]["shared_bytes"], 256);
  EXPECT_FALSE(trace["truncated"]);
  ASSERT_EQ(trace["sources"].size(), 1u);
  EXPECT_EQ(trace["sources"][0]["file"], "03_sequential/kernel.cuh");
  for (const Json& event : trace["events"]) {
    if (event["kind"] == "exit") continue;
    ASSERT_GT(event["line"], 0) << event;
    const std::string line = trace["sources"][0]["lines"][event["line"].get<std::size_t>() - 1];
    const bool is_global = event["kind"] == "global_load" || event["kind"] == "global_store";
    const bool is_barrier = event["kind"] == "block_barrier";
    const char* const wanted = is_global ? "[" : is_barrier ? "__syncthreads()" : "shared[tid";
    if (event["kind"] != "shared_load" || event["lanes"] != 1) {
      EXPECT_NE(line.find(wanted), std::string::npos) << event;
    }
    EXPECT_GT(event["column"], 0) << event;
    EXPECT_LE(event["column"].get<std::size_t>(), line.size()) << event;
  }
}

TEST_F(TraceFiles, HaveNoLinesOfASourceThatHasChangedSinceTheBuild) {
  const std::string old = path("03_sequential");
  std::filesystem::copy_file(
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("03_sequential"), old);
  std::filesystem::last_write_time(old,
                                   std::filesystem::file_time_type::clock::now() - std::chrono::years(20));
  const Outcome outcome = run_command(fmt::format("{} -n 1000 -q --trace {}", old, path("trace.json")));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  const Json trace = Json::parse(text_of(path("trace.json")));
  EXPECT_EQ(trace["sources"][0]["file"], "03_sequential/kernel.cuh");
  EXPECT_TRUE(trace["sources"][0]["lines"].empty());
}

TEST_F(TraceFiles, HaveTheValuesOfEveryType) {
  for (const char* type : {"int32", "int64", "float32", "float64", "complex64", "complex128"}) {
    const Json trace = trace_of("03_sequential", fmt::format("-n 96 -b 32 --data ones -t {}", type));
    EXPECT_EQ(trace["type"], type);
    Json last;
    for (const Json& event : trace["events"]) {
      if (event["kind"] == "global_store") last = event;
    }
    const bool is_complex = std::string(type).starts_with("complex");
    const Json& sum = is_complex ? last["values"][0][0] : last["values"][0];
    EXPECT_EQ(sum, 32) << type << ": the block's 32 ones";
  }
}

/// Each request's banks are those of its words, and its wavefronts what they need; an independent count.
TEST_F(TraceFiles, HaveBanksThatExplainTheWavefronts) {
  bool any_conflict = false;
  for (const char* step : {"01_interleaved", "02_nondivergent", "05_unroll_warp"}) {
    const Json trace = trace_of(step, "-n 1000");
    for (const Json& event : trace["events"]) {
      if (!event.contains("banks")) continue;
      ASSERT_EQ(event["bytes"], 4);
      std::map<int, std::set<int>> words_of_bank;
      for (std::size_t i = 0; i < event["words"].size(); ++i) {
        const int word = event["words"][i];
        EXPECT_EQ(event["banks"][i], word % 32);
        words_of_bank[word % 32].insert(word);
      }
      std::size_t most = 0;
      for (const auto& [bank, words] : words_of_bank)
        most = std::max(most, words.size());
      EXPECT_EQ(event["wavefronts"], most) << event;
      EXPECT_EQ(event["conflicts"], most - 1) << event;
      EXPECT_EQ(event["words"].size(), std::popcount(event["lanes"].get<std::uint32_t>()));
      any_conflict = any_conflict || most > 1;
    }
  }
  EXPECT_TRUE(any_conflict);
}

TEST_F(TraceFiles, AreOfTheBlockAndPassThatIsMeant) {
  const Json block = trace_of("01_interleaved", "-n 1000 -b 64 --trace-block 3");
  EXPECT_EQ(block["block"], 3);
  EXPECT_EQ(block["events"][0]["words"][0], 3 * 64);
  const Json pass = trace_of("01_interleaved", "-n 1000 -b 64 --trace-block 2:0");
  EXPECT_EQ(pass["launch"]["number"], 2);
  EXPECT_EQ(pass["launch"]["grid"][0], 1);
  EXPECT_EQ(pass["buffers"][0]["bytes"], 64) << "16 partial sums";
}

TEST_F(TraceFiles, ArePagesOfTheirOwn) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run_step_executable("01_interleaved", "--trace " + path("a.html"));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.error.find("a.html: block 0 of pass 1, "), std::string::npos) << outcome.error;
  const std::string page = text_of(path("a.html"));
  EXPECT_LT(page.size(), 1'000'000u);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds.count(), 5) << "a second on an idle machine";
#endif
  EXPECT_TRUE(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("reduce_kernel"), std::string::npos);
  for (const char* network : {"src=\"http", "href=\"http", "@import", "import("})
    EXPECT_EQ(page.find(network), std::string::npos) << network;
}

TEST_F(TraceFiles, HaveTheOtherTraceOnTheSamePage) {
  trace_of("02_nondivergent", "-n 1000");
  const Outcome outcome = run_step_executable(
      "03_sequential",
      fmt::format("-n 1000 --trace {} --trace-beside {}", path("a.html"), path("trace.json")));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  const std::string page = text_of(path("a.html"));
  EXPECT_NE(page.find("\"02_nondivergent\""), std::string::npos);
  EXPECT_NE(page.find("\"03_sequential\""), std::string::npos);
}

/// The pitfall's finding is in block 1, and by default block 0 is traced.
TEST_F(TraceFiles, AreWrittenWithTheFindingThatHasEndedTheRun) {
  const std::string command = "unguarded_second_load --trace " + path("trace.json");
  const Outcome first = run_step_executable("pitfall", command);
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_NE(first.error.find("--trace-block 1:1"), std::string::npos) << first.error;
  EXPECT_EQ(Json::parse(text_of(path("trace.json")))["block"], 0);

  const Outcome second = run_step_executable("pitfall", command + " --trace-block 1:1");
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_EQ(second.error.find("--trace-block"), std::string::npos) << second.error;
  const Json trace = Json::parse(text_of(path("trace.json")));
  EXPECT_EQ(trace["block"], 1);
  ASSERT_EQ(trace["findings"].size(), 1u);
  EXPECT_EQ(trace["findings"][0]["kind"], "out of bounds");
  EXPECT_EQ(trace["findings"][0]["witnesses"][0]["block"], 1);
}

TEST_F(TraceFiles, AreRefusedInOneLineBeforeAnythingRuns) {
  std::ofstream(path("no_trace.json")) << "{\"format\": \"something else\"}";
  std::ofstream(path("broken.json")) << "{\"format\"";
  std::ofstream(path("numbers.json")) << "{\"format\": 3, \"version\": \"1\"}";
  std::ofstream(path("other.json")) << "{\"format\": \"reduction trace\", \"version\": 0}";
  const std::string to = path("a.html");
  for (const std::string& arguments :
       {std::string("--trace /nonexistent/a.html"), fmt::format("--trace {} --trace-block 99", to),
        fmt::format("--trace {} --trace-block 9:0", to),
        fmt::format("--trace {} --trace-beside {}", to, path("none.json")),
        fmt::format("--trace {} --trace-beside {}", to, path("no_trace.json")),
        fmt::format("--trace {} --trace-beside {}", to, path("broken.json")),
        fmt::format("--trace {} --trace-beside {}", to, path("numbers.json")),
        fmt::format("--trace {} --trace-beside {}", to, path("other.json")),
        fmt::format("--trace {} --json {}", to, to),
        fmt::format("--trace {} --json {}", to, path("./a.html")),
        fmt::format("--trace {} --sweep block", to), std::string("--trace a.txt")}) {
    const Outcome outcome = run_step_executable("03_sequential", "-n 1000 " + arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_EQ(std::ranges::count(outcome.error, '\n'), 1) << outcome.error;
    EXPECT_TRUE(outcome.error.starts_with("03_sequential: error: --")) << outcome.error;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_FALSE(std::filesystem::exists(to)) << arguments;
  }
  EXPECT_EQ(run_step_executable("03_sequential", "-n 1000 --trace " + to + " 2>&-").exit_code, 0)
      << "without stderr";
  EXPECT_TRUE(std::filesystem::remove(to));
  const Outcome cpu = run_step_executable("00_cpu_serial", "--trace " + to);
  EXPECT_EQ(cpu.exit_code, 2);
  EXPECT_NE(cpu.error.find("the CPU"), std::string::npos) << cpu.error;
  EXPECT_FALSE(std::filesystem::exists(to));
}

}  // namespace
}  // namespace reduction
