#include "emulated/program/runs.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "emulated/program/processes.hpp"

namespace emulated_program {
namespace {

namespace fs = std::filesystem;

/// What runs again reads the same input: it is kept where it can be read once only.
fs::path input_of_all_runs(const fs::path& folder) {
  if (isatty(STDIN_FILENO) != 0) return "/dev/null";
  std::ofstream kept{folder / "input", std::ios::binary};
  if (std::cin.peek() != std::char_traits<char>::eof()) kept << std::cin.rdbuf();
  return folder / "input";
}

/// Runs a program, if need be more than once: in other orders of threads and blocks, for findings that the first has not had,
/// and for the trace of a block that turns out to have one.
class Runs {
 public:
  Runs(const CommandLine& asked, const fs::path& folder, const Run& run)
      : asked_{asked},
        seen_{folder / "seen"},
        to_trace_{folder / "to_trace"},
        run_{run},
        traces_{has("trace=")} {
    if (asked.schedules > 1 || traces_) run_.input = input_of_all_runs(folder);
  }

  int all() {
    const int code = in_order(0, asked_.settings);
    int later = 0;
    run_.output = "/dev/null";
    for (unsigned order = 1; order < asked_.schedules && signal_that_came() == 0; ++order) {
      const int again = in_order(order, again_with({"json=", traces_ ? "trace=" : "json="}));
      if (later == 0) later = again;
    }
    return code != 0 ? code : later;
  }

 private:
  bool has(const char* name) const {
    return std::ranges::any_of(asked_.settings, [&](const auto& each) { return each.starts_with(name); });
  }

  /// What was asked for that holds for a further run, too.
  std::vector<std::string> again_with(std::vector<std::string> names) const {
    names.insert(names.end(), {"limit=", "stop", "counters="});
    std::vector<std::string> settings{"quiet"};
    std::ranges::copy_if(asked_.settings, std::back_inserter(settings), [&](const std::string& each) {
      return std::ranges::any_of(names, [&](const std::string& name) { return each.starts_with(name); });
    });
    return settings;
  }

  int in_order(unsigned order, std::vector<std::string> settings) {
    if (traces_) settings.push_back("to_trace=" + to_trace_.string());
    const int code = run(order, std::move(settings));
    std::ifstream block{to_trace_};
    if (!traces_ || !block) return code;
    traces_ = false;  // the first finding is enough
    run_.output = "/dev/null";
    if (std::string choice; std::getline(block, choice)) {
      settings = again_with({});
      settings.push_back("trace=" + choice);
      run(order, std::move(settings));
    }
    return code;
  }

  int run(unsigned order, std::vector<std::string> settings) {
    run_.settings = std::move(settings);
    run_.settings.insert(run_.settings.end(), {"order=" + std::to_string(order), "seen=" + seen_.string()});
    return emulated_program::run(run_);
  }

  const CommandLine& asked_;
  fs::path seen_;      ///< has the findings of earlier runs
  fs::path to_trace_;  ///< which a run writes that has a finding: of a block that it has not traced
  Run run_;
  bool traces_;
};

}  // namespace

int run_as_asked(const CommandLine& asked, const fs::path& folder, const fs::path& program) {
  const std::string name = fs::path{asked.sources.empty() ? "program" : asked.sources.front()}.stem();
  return Runs{asked, folder, {program, name, asked.arguments, {}}}.all();
}

}  // namespace emulated_program
