#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "command_line.hpp"
#include "harness/exit_code.hpp"
#include "harness/output_file.hpp"
#include "harness/step.hpp"
#include "measure_ranks.hpp"

namespace reduction {

/// What rank 0 prints and writes: a heading, a row of a Markdown table for each number of ranks, a --json file. Where
/// that file is stdout, everything else goes to stderr.
class RankReport {
 public:
  /// Throws UsageError if the --json file cannot be written.
  explicit RankReport(const CommandLine& line);

  /// Prints the heading; `note` says why it is this device, where that needs saying.
  void begin(const Step& step, int ranks, int nodes, const DeviceInfo& device, const std::string& note);

  /// Prints a result as soon as it is there.
  void add(const RankResult& found);

  /// Writes the --json file, if add() could not: the result, or the list of them with --scaling. Says whether all results
  /// were verified.
  ExitCode finish();

 private:
  std::string json() const;
  void print(const std::string& text);

  CommandLine line_;
  OutputFile json_file_;
  std::FILE* out_;
  nlohmann::ordered_json results_ = nlohmann::ordered_json::array();
  bool verified_ = true;
};

}  // namespace reduction
