#include "emulated/expect_finding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulated/findings/finding.hpp"
#include "emulated/run/launch.hpp"

namespace __emulated {
namespace {

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream stream{file};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

// ---- what is expected ----

/// The nearest comment above a line, a text for each finding; empty if there is none within the function.
std::vector<std::string> expected_above(const char* file, int line) {
  const std::vector<std::string> lines = lines_of(file);
  const auto words_of = [&](std::size_t i) { return lines[i].substr(lines[i].find_first_not_of(' ')); };
  const auto is_comment = [&](std::size_t i) {
    return lines[i].starts_with(' ') && words_of(i).starts_with("// ");
  };
  const auto is_inside = [&](std::size_t i) { return lines[i].empty() || lines[i].starts_with(' '); };
  auto end = static_cast<std::size_t>(line);
  while (is_inside(end - 1) && !is_comment(end - 1))
    --end;
  std::size_t begin = end;
  while (is_comment(begin - 1))
    --begin;
  std::vector<std::string> expected;
  for (std::size_t i = begin; i < end; ++i) {
    const std::string comment = words_of(i).substr(3);
    if (i == begin) {
      expected.push_back(comment);
    } else if (comment.starts_with("and ")) {
      expected.push_back(comment.substr(4));
    } else {
      expected.back() += ' ' + comment;
    }
  }
  if (expected == std::vector<std::string>{"no finding"}) expected.clear();
  return expected;
}

/// Whether a text begins as is expected, where `...` is anything.
bool fits(std::string_view text, std::string_view expected) {
  constexpr std::string_view anything = "...";
  bool is_first = true;
  while (true) {
    const auto end = expected.find(anything);
    const auto place = text.find(expected.substr(0, end));
    if (place == std::string_view::npos || (is_first && place != 0)) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(place + end);
    expected.remove_prefix(end + anything.size());
    is_first = false;
  }
}

bool all_fit(std::vector<std::string> found, const std::vector<std::string>& expected) {
  for (const std::string& each : expected) {
    const auto one = std::ranges::find_if(found, [&](const auto& text) { return fits(text, each); });
    if (one == found.end()) return false;
    found.erase(one);
  }
  return found.empty();
}

// ---- what is found ----

/// The comment at the end of a line, or its number.
std::string mark_of(const SourceLocation& location) {
  const std::vector<std::string> lines = lines_of(location.file);
  const std::string line = location.line <= lines.size() ? lines[location.line - 1] : "";
  const auto comment = line.rfind("  // ");
  return comment == std::string::npos ? "line " + std::to_string(location.line) : line.substr(comment + 5);
}

/// Which of two threads of a block comes first in a race is luck: here it is the one whose line does.
std::string text_of(const Finding& finding) {
  std::vector<Witness> witnesses = finding.witnesses;
  if (finding.fault == Fault::race)
    std::ranges::stable_sort(witnesses, {}, [](const Witness& w) {
      return std::pair{w.block, w.location.line};
    });
  std::string text = std::string{name_of(finding.fault)} + " in " + finding.kernel;
  const char* separator = ": ";
  for (const Witness& witness : witnesses) {
    text += separator + ("block " + std::to_string(witness.block)) + ", " +
            describe_numbers("thread", witness.threads) + ' ' + witness.action;
    if (!finding.memory.empty()) text += ' ' + (separator == std::string{": "} ? finding.memory : "it");
    if (witness.location != SourceLocation{}) text += " at " + mark_of(witness.location);
    separator = "; ";
  }
  if (!finding.help.empty()) text += "; help: " + finding.help;
  if (!finding.page.empty()) text += "; see " + std::filesystem::path{finding.page}.stem().string();
  return text + '.';
}

std::vector<std::string> found_in(const std::function<void()>& launch) {
  std::vector<std::string> found;
  try {
    launch();
  } catch (const KernelFinding& finding) {
    for (const Finding& each : finding.findings())
      found.push_back(text_of(each));
  }
  return found;
}

std::string one_a_line(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts)
    all += "\n  " + text;
  return all.empty() ? "\n  no finding" : all;
}

}  // namespace

void expect_finding(const std::function<void()>& launch, Runs runs, const char* file, int line) {
  const std::vector<std::string> expected = expected_above(file, line);
  std::vector<std::pair<Schedule, unsigned>> all{{{Order::ascending, 0}, 0}};
  if (runs == Runs::many_schedules) {
    for (const unsigned host_threads : {1U, 4U}) {
      all.push_back({{Order::ascending, 0}, host_threads});
      all.push_back({{Order::descending, 0}, host_threads});
      for (unsigned seed = 0; seed < 5; ++seed)
        all.push_back({{Order::random, seed}, host_threads});
    }
  }
  for (const auto& [schedule, host_threads] : all) {
    set_schedule(schedule);
    set_host_threads(host_threads);
    const std::vector<std::string> found = found_in(launch);
    if (!all_fit(found, expected)) {
      ADD_FAILURE_AT(file, line) << "expected:" << one_a_line(expected) << "\nfound:" << one_a_line(found)
                                 << "\nin order " << static_cast<int>(schedule.order) << ", seed "
                                 << schedule.seed << ", " << host_threads << " host threads";
      break;
    }
  }
  set_schedule({});
  set_host_threads(0);
}

}  // namespace __emulated
