/// The gallery of bugs: each kernel has exactly one finding, at the lines it marks, in any schedule. Once
/// fixed it has none, and gives the right result.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "docs/pitfalls/gallery.hpp"
#include "emulated/findings/finding.hpp"
#include "emulated/run/launch.hpp"
#include "run_executable.hpp"

namespace reduction::pitfalls {

std::ostream& operator<<(std::ostream& stream, const Pitfall& pitfall) { return stream << pitfall.name; }

namespace {

using namespace __emulated;

/// Random ones to try, beside ascending and descending: the loop that never ends takes a second in each.
unsigned schedules_for(const Pitfall& pitfall) { return pitfall.fault == Fault::endless_loop ? 1 : 1000; }

std::filesystem::path folder() { return std::filesystem::path{SOURCE_FOLDER} / "docs" / "pitfalls"; }

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream{file};
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

/// The numbers of the lines that the kernel's source marks with "// finding".
std::set<unsigned> marked_lines(std::string_view name) {
  std::istringstream source{text_of(folder() / (std::string{name} + ".cuh"))};
  std::set<unsigned> numbers;
  unsigned number = 1;
  for (std::string line; std::getline(source, line); ++number) {
    if (line.ends_with("// finding")) numbers.insert(number);
  }
  return numbers;
}

/// What a launch leaves behind.
struct Outcome {
  std::vector<Finding> findings;
  std::vector<Element> out;
};

Outcome outcome_of(const Launch& launch, const Shape& shape, size_t elements, const Schedule& schedule) {
  set_schedule(schedule);
  Outcome outcome;
  try {
    outcome.out = output_of(launch, shape, elements);
  } catch (const KernelFinding& finding) {
    outcome.findings = finding.findings();
  }
  set_schedule({});
  return outcome;
}

/// Ascending, descending and `random` random ones.
std::vector<Schedule> schedules_with(unsigned random) {
  std::vector<Schedule> schedules{{Order::ascending, 0}, {Order::descending, 0}};
  for (unsigned seed = 0; seed < random; ++seed)
    schedules.push_back({Order::random, seed});
  return schedules;
}

/// In every schedule: this, and 0 in what is left of the output.
void expect_result(const Launch& launch, const Shape& shape, std::vector<Element> result) {
  const size_t elements = result.size();
  result.resize(std::max(elements, least_output_elements));
  for (const Schedule& schedule : schedules_with(100)) {
    const Outcome outcome = outcome_of(launch, shape, elements, schedule);
    ASSERT_TRUE(outcome.findings.empty()) << outcome.findings[0].text;
    ASSERT_EQ(outcome.out, result) << "seed " << schedule.seed;
  }
}

class Gallery : public testing::TestWithParam<Pitfall> {};

TEST_P(Gallery, AreFoundAtTheirLinesInEverySchedule) {
  const Pitfall& pitfall = GetParam();
  for (const Schedule& schedule : schedules_with(schedules_for(pitfall))) {
    const std::vector<Finding> findings =
        outcome_of(pitfall.faulty, pitfall.shape, pitfall.expected.size(), schedule).findings;
    ASSERT_EQ(findings.size(), 1U) << "seed " << schedule.seed;
    EXPECT_EQ(name_of(findings[0].fault), name_of(pitfall.fault)) << findings[0].text;
    std::set<unsigned> lines;
    for (const Witness& witness : findings[0].witnesses) {
      const SourceLocation& location = witness.location;
      if (location == SourceLocation{}) continue;  // of threads that have left
      EXPECT_TRUE(location.file.ends_with("pitfalls/" + std::string{pitfall.name} + ".cuh"))
          << findings[0].text;
      lines.insert(location.line);
    }
    EXPECT_EQ(lines, marked_lines(pitfall.name)) << findings[0].text;
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path{SOURCE_FOLDER} / findings[0].page));
  }
}

/// What each prints, page_commands_test.py holds to its page.
TEST_P(Gallery, HavePagesThatShowTheKernel) {
  const std::string name{GetParam().name};
  std::string source = text_of(folder() / (name + ".cuh"));
  source.erase(0, source.find("///"));
  source = std::regex_replace(source, std::regex{" *// finding(?=\n)"}, "");
  EXPECT_NE(text_of(folder() / (name + ".md")).find(source), std::string::npos)
      << "the page shows another kernel";
}

TEST(Pitfalls, AreAllNamedInTheReadme) {
  const std::string page = text_of(folder() / "README.md");
  std::size_t after = 0;
  for (const Pitfall& pitfall : gallery()) {
    const auto row =
        page.find(fmt::format("[{}]({}.md) | {} |", pitfall.title, pitfall.name, name_of(pitfall.fault)));
    ASSERT_NE(row, std::string::npos) << pitfall.name;
    EXPECT_GT(row, after) << "another order";
    after = row;
  }
}

TEST_P(Gallery, HaveFixesThatGiveTheResultInEverySchedule) {
  expect_result(GetParam().fixed, GetParam().shape, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Pitfalls, Gallery, testing::ValuesIn(gallery()),
                         [](const auto& pitfall) { return std::string{pitfall.param.name}; });

// ---- the program ----

/// What the program answers, where it is run in the project's folder.
struct Answer {
  std::string arguments;
  int code;
  std::string begins{}, has{}, ends{};  ///< of stderr, of both, and of stderr
};

TEST(Pitfall, AnswersInOneLineOrWithAFinding) {
  const std::string lost = "pitfall: error: stdout does not take the output\n";
  std::vector<Answer> answers{
      {"add_without_an_atomic", 1, "pitfall: error: docs/pitfalls/add_without_an_atomic.cuh:15:", "",
       "see docs/pitfalls/add_without_an_atomic.md\n"},
      {"--fixed ticket_without_a_fence", 0, "", "no finding, and the same result as on the CPU: 5559936"},
      {"--list | wc -l", 0, "", "17\n"},
      {"lockstep", 2, "pitfall: error: ", "ticket_without_a_fence", "\n"}};
  for (const char* const refused :
       {"", "endless_loop endless_loop", "--slow endless_loop", "--list endless_loop", "--list ''",
        "--list --fixed", "--list --trace-beside x.json"})
    answers.push_back({refused, 2, "pitfall: error: ", "", "\n"});
  for (const std::string command : {"--list", "--help", "--fixed ticket_without_a_fence"})
    answers.push_back({command + " >/dev/full", 3, lost, "", lost});
  for (const auto& [arguments, code, begins, has, ends] : answers) {
    const auto [exit_code, out, error] = run_command("cd '" SOURCE_FOLDER "' && " PITFALL " " + arguments);
    EXPECT_EQ(exit_code, code) << arguments;
    EXPECT_TRUE(error.starts_with(begins) && error.ends_with(ends)) << error;
    EXPECT_NE((out + error).find(has), std::string::npos) << out << error;
    EXPECT_EQ(error.find('\x1b'), std::string::npos) << "colours without a terminal";
    if (code != 0) {
      EXPECT_EQ(out, "");
    }
    if (code > 1) {
      EXPECT_EQ(std::ranges::count(error, '\n'), 1) << error;
    }
  }
}

}  // namespace
}  // namespace reduction::pitfalls
