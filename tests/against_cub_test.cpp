/// \file
/// 12_against_cub without a GPU: its command line, what it makes of times and results, and its tables.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "fake_device.hpp"
#include "harness/exit_code.hpp"
#include "measure.hpp"
#include "report.hpp"
#include "temporary_path.hpp"

namespace reduction {
namespace {

const std::vector<std::string> names{"sum_int32", "min_int8", "max_half"};
constexpr std::uint64_t million = 1 << 20;

CommandLine parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "12_against_cub");
  return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), "12_against_cub", names);
}

/// The message that a command line is refused with; empty where it is taken.
std::string refusal(const std::vector<const char*>& arguments) {
  try {
    parse(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(AgainstCubCommandLine, TakesListsOfSizesAndCases) {
  const CommandLine usual = parse({});
  EXPECT_EQ(usual.cases, names);
  EXPECT_EQ(usual.sizes.list, (std::vector<std::uint64_t>{1 << 16, 1 << 20, 1 << 24, 1 << 28}));
  EXPECT_EQ(usual.samples, 41u);
  const CommandLine line = parse({"-n", "2^20,1000003,4K", "--cases", "max_half,sum_int32", "-s", "5"});
  EXPECT_FALSE(line.sizes.sweep);
  EXPECT_EQ(line.sizes.list, (std::vector<std::uint64_t>{million, 1000003, 4096}));
  EXPECT_EQ(line.cases, (std::vector<std::string>{"max_half", "sum_int32"}));
  EXPECT_EQ(line.samples, 5u);
  EXPECT_TRUE(parse({"-n", "sweep"}).sizes.sweep);
  EXPECT_FALSE(parse({"-n", "sweep"}).sizes.most);
  EXPECT_EQ(parse({"-n", "sweep:2^30"}).sizes.most, std::uint64_t{1} << 30);
}

TEST(AgainstCubCommandLine, RefusesEverythingElse) {
  for (const char* sizes : {"", "0", "2^20,", ",2^20", "2^20,,2^21", "2^49", "sweeps", "sweep:", "sweep:x",
                            "sweep:512", "sweep:0", "2^20,sweep", "sweep,2^20"}) {
    EXPECT_TRUE(refusal({"-n", sizes}).starts_with("--elements '"))
        << sizes << ": " << refusal({"-n", sizes});
  }
  EXPECT_EQ(refusal({"--cases", "sum_int32,sum"}),
            "--cases 'sum': choose one of sum_int32, min_int8, max_half");
  EXPECT_EQ(refusal({"--cases="}), "--cases: 1 required LIST missing (--help lists what is allowed)");
  EXPECT_NE(refusal({"--cases", "sum_int32,"}), "");
  EXPECT_NE(refusal({"--device", "gpu"}), "");
  EXPECT_NE(refusal({"2^20"}), "");
}

TEST(AgainstCubSweep, HasPowersOfTwoAndFortyOddSizesBetween) {
  const std::uint64_t most = std::uint64_t{1} << 34;
  const std::vector<std::uint64_t> sizes = sweep_sizes(most, 1);
  EXPECT_TRUE(std::ranges::is_sorted(sizes));
  EXPECT_EQ(sizes.size(), 25u + 40u);
  EXPECT_EQ(sizes.front(), 1024u);
  EXPECT_EQ(sizes.back(), most);
  EXPECT_EQ(std::ranges::count_if(sizes, [](std::uint64_t n) { return n % 2 == 1; }), 40);
  // As many below the middle, 2^22, as above it, as far as chance has it.
  const auto below = std::ranges::count_if(sizes, [](std::uint64_t n) { return n % 2 == 1 && n < 1 << 22; });
  EXPECT_GE(below, 10);
  EXPECT_LE(below, 30);
  EXPECT_EQ(sweep_sizes(most, 1), sizes);
  EXPECT_NE(sweep_sizes(most, 2), sizes);
}

TEST(AgainstCubSweep, EndsWhereItIsToldTo) {
  EXPECT_EQ(sweep_sizes(1024, 1), std::vector<std::uint64_t>{1024});
  EXPECT_EQ(sweep_sizes(2047, 1), std::vector<std::uint64_t>{1024});
  EXPECT_EQ(sweep_sizes(2048, 1).size(), 42u);
  EXPECT_LT(sweep_sizes(3000, 1).back(), 3000u);
}

/// A library that sums bytes on the host. Its launches after the first `right` ones leave the result alone, and each is
/// noted by its letter.
Call fake_library(char letter, int right, std::string& launches) {
  return [letter, right, &launches, count = 0](void* storage, std::size_t& bytes, const void* in, void* out,
                                               std::size_t n) mutable {
    if (storage == nullptr) {
      bytes = 1;
      return;
    }
    launches += letter;
    if (++count > right) return;
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i)
      sum += static_cast<const unsigned char*>(in)[i];
    std::memcpy(out, &sum, sizeof(sum));
  };
}

struct Fixture {
  explicit Fixture(int ours_right = 1000, int cub_right = 1000) {
    fake.name = "sum_int32";
    fake.element_bytes = 1;
    fake.result_bytes = sizeof(double);
    fake.fill = [](void* in, std::uint64_t n, std::uint64_t seed) {
      std::memset(in, static_cast<int>(seed), n);
    };
    fake.ours = fake_library('o', ours_right, launches);
    fake.cub = fake_library('c', cub_right, launches);
    fake.components = [](const void* result) {
      double value = 0;
      std::memcpy(&value, result, sizeof(value));
      return std::vector<double>{value};
    };
  }

  Comparison run(std::size_t samples = 2) {
    const auto timer = device.make_timer(TimingMethod{});
    return compare(fake, device, *timer, TimingMethod{}, 1000, samples, 3);
  }

  std::string launches;
  Case fake;
  FakeDevice device;
};

TEST(AgainstCubMeasure, TakesSamplesInTurn) {
  Fixture fixture;
  fixture.device.sample_ms = {1.0, 2.0, 3.0, 6.0};
  const Comparison found = fixture.run();
  EXPECT_EQ(fixture.launches, "ocococococ");  // three runs of each that warm up, and two samples
  EXPECT_TRUE(found.verified());
  EXPECT_EQ(found.ours_result, std::vector<double>{3000});
  EXPECT_DOUBLE_EQ(found.ours.median, 2.0);
  EXPECT_DOUBLE_EQ(found.cub.median, 4.0);
  EXPECT_DOUBLE_EQ(found.cub_over_ours(), 2.0);
  EXPECT_DOUBLE_EQ(found.gbps(found.ours), 1000 / 2.0 / 1e6);
}

TEST(AgainstCubMeasure, TakesNoTimesOfAWrongResult) {
  Fixture fixture(0);
  const Comparison found = fixture.run();
  EXPECT_FALSE(found.verified());
  EXPECT_EQ(found.samples, 0u);
  EXPECT_EQ(fixture.launches, "ocococ");
}

TEST(AgainstCubMeasure, VerifiesWhatTheLastSampleLeft) {
  EXPECT_TRUE(Fixture(5, 5).run().verified());
  EXPECT_FALSE(Fixture(4, 5).run().verified());
  // Two results that nobody has written are no equal ones.
  EXPECT_FALSE(Fixture(4, 4).run().verified());
}

TEST(AgainstCubMeasure, TakesASampleAgainOnce) {
  Fixture fixture;
  fixture.device.unqueued = 1;
  EXPECT_EQ(fixture.run().samples, 2u);
  fixture.device.unqueued = 2;
  EXPECT_THROW(fixture.run(), DeviceError);
}

TEST(AgainstCubMeasure, RefusesMoreThanThePeak) {
  Fixture fixture;
  fixture.device.sample_ms = {1.0, 1000 / 100.1e6};
  EXPECT_THROW(fixture.run(), MeasurementError);
}

Comparison made_up(const std::string& name, std::uint64_t n, double ours_ms, double cub_ms) {
  Comparison found;
  found.name = name;
  found.element_bytes = 4;
  found.n = n;
  found.samples = 41;
  found.ours = {ours_ms, ours_ms, ours_ms, ours_ms};
  found.cub = {cub_ms, cub_ms, cub_ms, cub_ms};
  found.ours_result = found.cub_result = {1};
  return found;
}

TEST(AgainstCubTables, MarkWhatTheClockCannotTellApart) {
  EXPECT_TRUE(made_up("sum_int32", 1, 0.0071, 0.0070).within_tick());
  EXPECT_FALSE(made_up("sum_int32", 1, 0.0072, 0.0070).within_tick());
  const auto text = [](const Comparison& found) {
    Table table = comparison_table(names);
    table.rows.push_back(comparison_row(found));
    return to_text(table, {});
  };
  const std::string header =
      "| case | elements | ms | GB/s | CUB: ms | CUB: GB/s | CUB's time / ours | same result |\n"
      "|:--|--:|--:|--:|--:|--:|--:|:--|\n";
  EXPECT_EQ(text(made_up("sum_int32", million, 0.0064, 0.008)),
            header + "| sum_int32 | 2^20 | 0.00640 | 655.4 | 0.00800 | 524.3 | 1.250 | yes |\n");
  EXPECT_EQ(text(made_up("sum_int32", 1001, 0.0051, 0.005)),
            header + "| sum_int32 | 1001 | 0.00510 | 0.8 | 0.00500 | 0.8 | ≈ 0.980 | yes |\n");
  Comparison wrong = made_up("min_int8", 1001, 0, 0);
  wrong.samples = 0;
  wrong.ours_result = {std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(text(wrong), header + "| min_int8 | 1001 | – | – | – | – | – | NO |\n");
}

TEST(AgainstCubTables, SumUpByCaseAndSize) {
  const std::vector<Comparison> all{
      made_up("sum_int32", million - 1, 0.01, 0.02), made_up("sum_int32", million - 2, 0.01, 0.005),
      made_up("sum_int32", million, 0.01, 0.0125),   made_up("sum_int32", 32 * million, 0.02, 0.025),
      made_up("max_half", 32 * million + 1, 1, 1),   made_up("max_half", 64 * million, 1, 1.01)};
  EXPECT_EQ(to_text(summary_table(all), {}),
            "| CUB's time / ours | below 2^20 | 2^20 to 2^25 | above 2^25 | lowest | lowest that is not ≈ |\n"
            "|:--|--:|--:|--:|--:|--:|\n"
            "| sum_int32 | 1.000 | 1.250 | – | 0.500 at 1048574 | 0.500 at 1048574 |\n"
            "| max_half | – | – | 1.005 | ≈ 1.000 at 33554433 | 1.010 at 2^26 |\n"
            "| all | 1.000 | 1.250 | 1.005 | 0.500 at 1048574 sum_int32 | 0.500 at 1048574 sum_int32 |\n");
}

TEST(AgainstCubReport, WritesEveryCellAndSaysWhatIsWrong) {
  const auto file = temporary_path("against_cub.json");
  CommandLine line;
  line.json_file = file.string();
  line.quiet = true;
  ComparisonReport report("12_against_cub", line, "3.0.1");
  report.begin(FakeDevice().info(), TimingMethod{});
  report.add(made_up("sum_int32", million, 0.01, 0.02));
  auto json = nlohmann::json::parse(std::ifstream(file));
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0]["case"], "sum_int32");
  EXPECT_EQ(json[0]["elements"], million);
  EXPECT_EQ(json[0]["element_bytes"], 4);
  EXPECT_EQ(json[0]["ms"]["median"], 0.01);
  EXPECT_EQ(json[0]["cub_ms"]["median"], 0.02);
  EXPECT_EQ(json[0]["cub_version"], "3.0.1");
  EXPECT_EQ(json[0]["timing"]["lead_in"], 8);
  EXPECT_EQ(json[0]["device"]["name"], "fake");
  EXPECT_EQ(json[0]["verified"], true);
  Comparison wrong = made_up("sum_int32", million, 0, 0);
  wrong.samples = 0;
  wrong.ours_result = {2};
  testing::internal::CaptureStderr();
  report.add(wrong);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "12_against_cub: sum_int32, 2^20 elements: WRONG: 2, and CUB has 1\n");
  EXPECT_EQ(report.finish(), ExitCode::wrong_result);
  json = nlohmann::json::parse(std::ifstream(file));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_TRUE(json[1]["ms"].is_null());
  EXPECT_EQ(json[1]["verified"], false);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace reduction
