#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "harness/exit_code.hpp"
#include "harness/text_file.hpp"
#include "measure_ranks.hpp"

namespace reduction {

/// What a report has of one result.
struct RankRow {
  std::string table;  ///< a row of it
  std::string json;
  std::string wrong;  ///< why it is; empty: it is not
};

/// Makes the row of a rank that summed alone.
RankRow row_of(const RankResult& found, int rank);

/// What rank 0 prints and writes: a heading, a row of a Markdown table for each number of ranks, a --json file. Where
/// that file is stdout, everything else goes to stderr.
class RankReport {
 public:
  /// Throws UsageError if the --json file cannot be written.
  explicit RankReport(const CommandLine& line);

  /// Prints the heading; the notes say why it is this device, or this combiner, where that needs saying.
  void begin(const RankStep& step, int ranks, int nodes, const DeviceInfo& device,
             const std::vector<std::string>& notes);

  /// Prints a result as soon as it is there.
  void add(const RankResult& found);

  /// Prints that of a rank alone, if the command line asks for --alone.
  void add(const RankRow& alone);

  /// Writes the --json file, if add() could not: the result, or with --scaling or --alone the
  /// list of them. Says whether all results
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
