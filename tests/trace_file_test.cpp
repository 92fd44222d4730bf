/// \file
/// --trace as a shell sees it: the files, what is refused, and what becomes of them when a run fails. What is in a trace is
/// committed with the pages' pictures (docs/stills).

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "shell.hpp"

namespace reduction {
namespace {

using Json = nlohmann::json;

std::string text_of(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class TraceFiles : public Shell {
 protected:
  /// The trace of a run that has to succeed.
  static Json trace_of(const std::string& command) {
    EXPECT_EQ(run({command + " -q --trace trace.json"}).error, "") << "--quiet";
    return Json::parse(text_of("trace.json"));
  }
};

/// Values of a variable, lane by lane; none where it is not known.
std::vector<std::optional<std::size_t>> values_of(const Json& event, const std::string& name) {
  std::vector<std::optional<std::size_t>> values(event.value("words", Json::array()).size());
  for (const Json& variable : event.value("variables", Json::array())) {
    for (std::size_t lane = 0; variable["name"] == name && lane < values.size(); ++lane)
      if (variable["values"][lane].is_number()) values[lane] = variable["values"][lane];
  }
  return values;
}

/// What is known of them leads to the words that the event accesses.
TEST_F(TraceFiles, HaveTheVariablesOfTheLine) {
  for (const auto& [step, kind, base, offset] : {std::tuple{"01_interleaved", "shared", "tid", "stride"},
                                                 {"02_nondivergent", "shared", "index", "stride"},
                                                 {"03_sequential", "shared", "tid", "stride"},
                                                 {"04_first_add", "shared", "tid", "stride"},
                                                 {"05_unroll_warp", "shared", "tid", "stride"},
                                                 {"06_templated", "shared", "tid", "stride"},
                                                 {"07_cascade", "global_load", "i", "block"},
                                                 {"08_warp_shuffle", "global_load", "i", "block"}}) {
    unsigned at_base = 0;
    unsigned behind_it = 0;
    const Json trace = trace_of(std::string{step} + " -n 20000 -b 128");
    for (const Json& event : trace["events"]) {
      const auto bases = values_of(event, base);
      const auto offsets = values_of(event, offset);
      for (std::size_t lane = 0; lane < bases.size(); ++lane) {
        if (!event["kind"].get<std::string>().starts_with(kind) || !bases[lane] || !offsets[lane]) continue;
        const std::size_t word = event["words"][lane];
        (word == *bases[lane] ? at_base : behind_it) += 1;
        if (word == *bases[lane]) continue;
        const bool is_partner = word == (*bases[lane] ^ *offsets[lane]);  // of a warp's butterfly
        EXPECT_TRUE(is_partner || word == *bases[lane] + *offsets[lane]) << step << ": " << event;
      }
    }
    EXPECT_GT(behind_it, 0u) << step;
    if (std::string_view{kind} == "shared") {
      EXPECT_GT(at_base, 0u) << step;
    }
  }
}

TEST_F(TraceFiles, AreOfTheBlockAndPassThatIsMeant) {
  const Json block = trace_of("01_interleaved -n 1000 -b 64 --trace-block 3");
  EXPECT_EQ(block["block"], 3);
  EXPECT_EQ(block["events"][0]["words"][0], 3 * 64);
  const Json pass = trace_of("01_interleaved -n 1000 -b 64 --trace-block 2:0");
  EXPECT_EQ(pass["launch"]["number"], 2);
  EXPECT_EQ(pass["launch"]["grid"][0], 1);
  EXPECT_EQ(pass["buffers"][0]["bytes"], 64) << "16 partial sums";
}

TEST_F(TraceFiles, ArePagesOfTheirOwn) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_NE(run({"01_interleaved --trace a.html"}).error.find("a.html: block 0 of pass 1, "),
            std::string::npos);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::string page = text_of("a.html");
  EXPECT_LT(page.size(), 1'000'000u);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(seconds.count(), 5) << "a second on an idle machine";
#endif
  EXPECT_TRUE(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("reduce_kernel"), std::string::npos);
  // With another step's trace on the same page.
  trace_of("02_nondivergent -n 1000");
  expect({{"03_sequential -n 1000 --trace a.html --trace-beside trace.json"}});
  for (const char* step : {"\"02_nondivergent\"", "\"03_sequential\""})
    EXPECT_NE(text_of("a.html").find(step), std::string::npos);
}

/// The finding of 04's solution is in block 1, which is traced unless another one is meant.
TEST_F(TraceFiles, AreWrittenWithTheFindingThatHasEndedTheRun) {
  const std::string command = "solution_04_first_add -n 1000 --trace trace.json";
  expect({{command + " --trace-block 1:0", 1, {"--trace-block 1:1"}}});
  EXPECT_EQ(Json::parse(text_of("trace.json"))["block"], 0);
  const Outcome outcome = run({command, 1});
  EXPECT_EQ(outcome.error.find("--trace-block"), std::string::npos) << outcome.error;
  const Json trace = Json::parse(text_of("trace.json"));
  EXPECT_EQ(trace["block"], 1);
  ASSERT_EQ(trace["findings"].size(), 1u);
  EXPECT_EQ(trace["findings"][0]["kind"], "out of bounds");
  const Json& witness = trace["findings"][0]["witnesses"][0];
  EXPECT_EQ(witness["block"], 1);
  EXPECT_TRUE(witness["event"].is_null()) << "the access that is refused does not happen";
  expect({{"solution_atomic_each -n 1000 --trace trace.json", 1}});
  const Json race = Json::parse(text_of("trace.json"));
  for (const Json& each : race["findings"][0]["witnesses"])
    EXPECT_EQ(race["events"][each["event"].get<std::size_t>()]["line"], each["line"]) << each;
}

TEST_F(TraceFiles, AreRefusedBeforeAnythingRuns) {
  std::ofstream("no_trace.json") << "{\"format\": \"something else\"}";
  std::ofstream("broken.json") << "{\"format\"";
  std::ofstream("numbers.json") << "{\"format\": 3, \"version\": \"1\"}";
  std::ofstream("other.json") << "{\"format\": \"reduction trace\", \"version\": 0}";
  for (const std::string options :
       {"--trace /nonexistent/a.html", "--trace a.html --trace-block 99", "--trace a.html --trace-block 9:0",
        "--trace a.html --trace-beside none.json", "--trace a.html --trace-beside no_trace.json",
        "--trace a.html --trace-beside broken.json", "--trace a.html --trace-beside numbers.json",
        "--trace a.html --trace-beside other.json", "--trace a.html --json ./a.html"})
    expect_refused({{"03_sequential -n 1000 " + options, 2, {"error: --"}}});
  expect_refused({{"00_cpu_serial --trace a.html", 2, {"the CPU"}}});
  EXPECT_FALSE(std::filesystem::exists("a.html"));
  expect({{"03_sequential -n 1000 --trace a.html 2>&-"}});
  EXPECT_TRUE(std::filesystem::exists("a.html")) << "without stderr";
}

}  // namespace
}  // namespace reduction
