#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_executable.hpp"
#include "temporary_path.hpp"

namespace reduction {

inline std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// A command of bash and what comes of it: its exit code, and what it says on stdout or stderr.
struct Row {
  std::string command;
  int code = 0;
  std::vector<std::string> says{};
};

/// In a folder of its own, where the programs have their bare names and nobody asks for a GPU.
class Shell : public testing::Test {
 protected:
  Shell() {
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
    const std::string programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    setenv("PATH", (programs + ":" + std::getenv("PATH")).c_str(), 1);
  }
  ~Shell() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  static Outcome outcome_of(const std::string& command) {
    std::ofstream("command.sh") << command << '\n';
    return run_command("bash command.sh");
  }

  static Outcome run(const Row& row) {
    SCOPED_TRACE(row.command);
    const Outcome outcome = outcome_of(row.command);
    EXPECT_EQ(outcome.exit_code, row.code) << outcome.error;
    for (const std::string& part : row.says)
      EXPECT_NE((outcome.out + outcome.error).find(part), std::string::npos) << outcome.out << outcome.error;
    return outcome;
  }

  static void expect(const std::vector<Row>& rows) {
    for (const Row& row : rows)
      run(row);
  }

  /// Commands that say why in one line and run nothing.
  static void expect_refused(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      const Outcome outcome = run(row);
      EXPECT_EQ(lines(outcome.error), 1U) << outcome.error;
      EXPECT_EQ(outcome.error.find(row.command.substr(0, row.command.find(' ')) + ": error: "), 0U)
          << outcome.error;
      EXPECT_EQ(outcome.out, "") << row.command;
    }
  }

  /// What a command that succeeds writes to stdout.
  static nlohmann::json json_of(const std::string& command) {
    return nlohmann::json::parse(run({command + " --json -"}).out);
  }

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
  std::filesystem::path folder_ = temporary_path("shell");
};

}  // namespace reduction
