#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.hpp"
#include "harness/exit_code.hpp"
#include "harness/table.hpp"
#include "harness/terminal.hpp"
#include "harness/text_file.hpp"
#include "measure.hpp"

namespace reduction {

/// Returns the table of single cells, without its rows; and the row of one.
Table comparison_table(const std::vector<std::string>& cases);
Row comparison_row(const Comparison& found);

/// Returns a row for each case, and one for all if there are several: the geometric means of CUB's time over ours for small,
/// medium and large inputs, and the lowest cells.
Table summary_table(const std::vector<Comparison>& all);

/// Prints what was measured, and writes the --json file. Where that is stdout, everything else goes to stderr.
class ComparisonReport {
 public:
  /// Throws UsageError if the --json file cannot be written.
  ComparisonReport(std::string_view program, const CommandLine& line, std::string cub_version);

  /// Prints the heading and the table's.
  void begin(const DeviceInfo& device, const TimingMethod& method);

  /// Says whether another result is wanted. Ctrl-C ends the run after the cell at hand.
  bool goes_on();

  /// Adds a cell, at once also to the --json file.
  void add(const Comparison& found);

  /// Says in a line that a cell is left out, because the device has too little memory free.
  void leave_out(const std::string& name, std::uint64_t n, std::size_t needed_bytes,
                 std::size_t available_bytes);

  /// Prints the summary. Says whether all results were the same, or that Ctrl-C ended the run.
  ExitCode finish();

 private:
  std::string json() const;
  void print(const std::string& text);

  std::string_view program_;
  const CommandLine& line_;
  std::string cub_version_;
  OutputFile json_file_;
  std::FILE* out_;
  Terminal terminal_;
  TableLayout table_;
  DeviceInfo device_;
  TimingMethod method_;
  std::vector<Comparison> results_;
  Interruption interruption_;
};

}  // namespace reduction
