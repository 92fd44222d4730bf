/// \file
/// The steps' counters on the emulated device agree with those of every GPU in docs/counters, and counter_comparison
/// notices where they do not.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "run_executable.hpp"

namespace reduction {
namespace {

const std::filesystem::path counters_folder = COUNTERS_FOLDER;

/// A line `step,metric,value` of a GPU's file.
struct Line {
  std::string step, metric, value;

  /// Whether the metric's name has `part` in it.
  bool counts(const char* part) const { return metric.find(part) != std::string::npos; }
  bool gpu_only() const { return step == "11_bulk_copy" || step == "12_any_operation"; }
  /// Whether both sides have it. Bytes are the GPU's alone.
  bool compared() const {
    return !gpu_only() && (counts("launch__grid_size") || counts("l1tex__t_") || counts("l1tex__data_"));
  }
  double number() const { return std::stod(value); }
  void scale(double factor) { value = fmt::format("{:.0f}", std::round(number() * factor)); }
};

std::vector<Line> read_lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<Line> lines;
  for (std::string text; std::getline(stream, text);) {
    const auto first = text.find(','), second = text.find(',', first + 1);
    if (text.starts_with('#') || text == "step,metric,value" || second == std::string::npos) continue;
    lines.push_back(
        {text.substr(0, first), text.substr(first + 1, second - first - 1), text.substr(second + 1)});
  }
  return lines;
}

class CounterComparison : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = (std::filesystem::path(testing::TempDir()) / "counters_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    std::istringstream steps(EMULATED_STEPS);
    for (std::string step; steps >> step;) {
      const std::string file = fmt::format("'{}/{}.json'", folder.string(), step);
      const Outcome outcome = run_step_executable(step, "--device emulated -n 2^22 -b 256 --json " + file);
      ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
      results += ' ' + file;
    }
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

  static Outcome compare(const std::filesystem::path& gpu_file) {
    return run_step_executable(
        "counter_comparison",
        fmt::format("'{}'{} --gpu-only 11_bulk_copy 12_any_operation", gpu_file.string(), results));
  }

  static Outcome compare(const std::vector<Line>& lines) {
    const auto file = folder / "gpu.csv";
    std::ofstream stream(file);
    stream << "# GPU: changed\nstep,metric,value\n";
    for (const Line& line : lines)
      stream << line.step << ',' << line.metric << ',' << line.value << '\n';
    stream.close();
    return compare(file);
  }

  /// The H200's lines, after `change` went over each of them.
  static std::vector<Line> changed(const std::function<void(Line&)>& change) {
    std::vector<Line> lines = read_lines(counters_folder / "nvidia_h200.csv");
    for (Line& line : lines) {
      if (line.value != "missing") change(line);
    }
    return lines;
  }

  static std::filesystem::path folder;
  static std::string results;
};

std::filesystem::path CounterComparison::folder;
std::string CounterComparison::results;

TEST_F(CounterComparison, AgreesWithEveryGpu) {
  unsigned gpus = 0;
  for (const auto& entry : std::filesystem::directory_iterator(counters_folder)) {
    if (entry.path().extension() != ".csv") continue;
    ++gpus;
    const Outcome outcome = compare(entry.path());
    EXPECT_EQ(outcome.exit_code, 0) << entry.path() << '\n' << outcome.error;
    EXPECT_EQ(outcome.error, "");
  }
  EXPECT_GE(gpus, 1u);
}

TEST_F(CounterComparison, ComparesAllThatTheModelClaims) {
  const Outcome outcome = compare(counters_folder / "nvidia_h200.csv");
  // In each of 10 steps: shared loads and stores, their conflicts, global load and store requests and sectors.
  const auto place = outcome.out.find("All ");
  ASSERT_NE(place, std::string::npos) << outcome.out;
  EXPECT_EQ(std::stoi(outcome.out.substr(place + 4)), 80) << outcome.out;
}

TEST_F(CounterComparison, NoticesAnyNumberThatIsFivePercentOff) {
  const std::vector<Line> lines = read_lines(counters_folder / "nvidia_h200.csv");
  unsigned tried = 0;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const Line& line = lines[k];
    // 5 % of a smaller number may vanish in rounding.
    if (!line.compared() || line.value == "missing" || line.number() < 20) continue;
    for (const double factor : {0.95, 1.05}) {
      std::vector<Line> other = lines;
      other[k].scale(factor);
      const Outcome outcome = compare(other);
      EXPECT_EQ(outcome.exit_code, 1) << line.step << ' ' << line.metric << ' ' << other[k].value;
      EXPECT_NE(outcome.error.find(line.step), std::string::npos) << outcome.error;
      EXPECT_NE(outcome.out.find("compared counts differ.**"), std::string::npos) << outcome.out;
      ++tried;
    }
  }
  EXPECT_GE(tried, 2u * 10u * 5u);
}

TEST_F(CounterComparison, ToleratesNoiseInConflictsUpToFourPercentOfWavefronts) {
  const auto with_noise = [](double share) {
    return changed([&](Line& line) {
      // 03 reads shared memory in 409600 wavefronts, and has no conflicts of its own.
      if (line.step != "03_sequential" || !line.metric.ends_with("mem_shared_op_ld.sum")) return;
      const double noise = std::round(409600 * share);
      if (line.counts("wavefronts")) line.value = fmt::format("{:.0f}", 409600 + noise);
      if (line.counts("conflicts")) line.value = fmt::format("{:.0f}", noise);
    });
  };
  EXPECT_EQ(compare(with_noise(0.039)).exit_code, 0);
  EXPECT_EQ(compare(with_noise(0.044)).exit_code, 1);
}

TEST_F(CounterComparison, LeavesOutWhatTheGpuDoesNotHave) {
  for (const char* metric : {"grid_size", "wavefronts", "conflicts", "t_requests", "t_sectors"}) {
    const Outcome outcome = compare(changed([&](Line& line) {
      if (line.counts(metric)) line.value = "missing";
    }));
    EXPECT_EQ(outcome.exit_code, 0) << metric << outcome.error;
    EXPECT_NE(outcome.out.find("| – |"), std::string::npos) << metric << outcome.out;
  }
  const Outcome nothing = compare(changed([](Line& line) { line.value = "missing"; }));
  EXPECT_EQ(nothing.exit_code, 2);
}

TEST_F(CounterComparison, TakesTheGridOfAnotherGpuInStep07) {
  // 108 multiprocessors with 8 blocks each; a block loads 20 times from shared memory, and stores as often.
  const Outcome outcome = compare(changed([](Line& line) {
    if (line.step != "07_cascade") return;
    if (line.counts("grid_size") || line.counts("global_op_st")) line.value = "864";
    if (line.counts("wavefronts")) line.value = "17280";
    if (line.counts("conflicts")) line.value = "0";
  }));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
}

TEST_F(CounterComparison, TakesTheGridOfAnotherGpuInStep10) {
  // 864 blocks, and once more in the last: 8 stores to shared memory and 1 load each, and 1 store of the sum. The last
  // one's 864 partial sums are 27 requests and 108 sectors.
  const Outcome outcome = compare(changed([](Line& line) {
    if (line.step != "10_single_pass") return;
    if (line.counts("grid_size")) line.value = "864";
    if (line.counts("global_op_st")) line.value = "865";
    if (line.counts("t_requests") && line.counts("op_ld")) line.value = "32795";
    if (line.counts("t_sectors") && line.counts("op_ld")) line.value = "524396";
    if (line.counts("wavefronts")) line.value = line.counts("op_ld") ? "865" : "6920";
    if (line.counts("conflicts")) line.value = "0";
  }));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
}

TEST_F(CounterComparison, ShowsWhatOnlyTheGpuRan) {
  // Whatever it counts there, nothing differs.
  const Outcome outcome = compare(changed([](Line& line) {
    if (line.gpu_only()) line.value = "4711";
  }));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("| 11_bulk_copy (GPU only) | – | 4711 | – | 4711 | – | 4711 | – | 4711 |"),
            std::string::npos)
      << outcome.out;
  // A GPU that cannot run it has none of its counts.
  const Outcome older = compare(changed([](Line& line) {
    if (line.step == "11_bulk_copy") line.value = "missing";
  }));
  EXPECT_EQ(older.exit_code, 0) << older.error;
  EXPECT_NE(older.out.find("| 11_bulk_copy (GPU only) | – | – | – | – | – | – | – | – |"), std::string::npos)
      << older.out;
}

TEST_F(CounterComparison, ShowsTheBytesThatAreRead) {
  std::vector<Line> lines = read_lines(counters_folder / "nvidia_h200.csv");
  std::erase_if(lines,
                [](const Line& line) { return line.counts("bytes_read") || line.counts("read_bytes"); });
  EXPECT_EQ(compare(lines).out.find("Bytes read"), std::string::npos);
  lines.push_back({"11_bulk_copy", "dram__bytes_read.sum", "16777216"});
  lines.push_back({"11_bulk_copy", "l1tex__m_xbar2l1tex_read_bytes.sum", "16778240"});
  lines.push_back({"11_bulk_copy", "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum", "missing"});
  const Outcome outcome = compare(lines);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("| 10_single_pass | – | – | – |\n| 11_bulk_copy | 16777216 | 16778240 | – |"),
            std::string::npos)
      << outcome.out;
}

TEST_F(CounterComparison, RefusesAStepThatIsNeitherComparedNorNamed) {
  std::vector<Line> lines = read_lines(counters_folder / "nvidia_h200.csv");
  lines.push_back({"14_newest", "launch__grid_size", "132"});
  const Outcome outcome = compare(lines);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.error.find("14_newest"), std::string::npos) << outcome.error;
}

TEST_F(CounterComparison, RefusesWhatIsNoFileOfCounters) {
  EXPECT_EQ(compare(folder / "absent.csv").exit_code, 2);
  EXPECT_EQ(compare({{"01_interleaved", "launch__grid_size", "many"}}).exit_code, 2);
  std::vector<Line> lines = read_lines(counters_folder / "nvidia_h200.csv");
  std::erase_if(lines, [](const Line& line) { return line.step == "04_first_add"; });
  const Outcome outcome = compare(lines);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.error.find("04_first_add"), std::string::npos) << outcome.error;
}

}  // namespace
}  // namespace reduction
