#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/counter_report.hpp"
#include "harness/exit_code.hpp"
#include "harness/options.hpp"
#include "harness/reduction_plan.hpp"
#include "harness/result.hpp"
#include "harness/table.hpp"
#include "harness/terminal.hpp"
#include "harness/text_file.hpp"

namespace reduction {

/// Describes the device in a line: name, compute capability, multiprocessors, L2, peak.
std::string device_text(const DeviceInfo& device);

/// Describes the result and its reference in a line, and what separates them.
std::string verdict_text(const Result& result, const Terminal& terminal = {});

/// What a run prints and writes: a heading, the results as rows of a table, a --json file. The table is in Markdown; on
/// a terminal it is aligned, and a single result is told in lines, less what was said of the --compared one already.
/// Where the --json file is stdout, everything else goes to stderr. Of a sweep, the --json file has every result that
/// was added, whatever ends it.
class Report {
 public:
  /// Throws UsageError if the --json file cannot be written or the --compare file cannot be read, before anything runs.
  /// \param for_terminal  whether a terminal gets its own form.
  explicit Report(const Options& options, bool for_terminal = true);

  /// Writes the --json file: the result, or the list of a sweep; none where there is no result.
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// Prints the heading; `note` says why it is this device, where that needs saying.
  void begin(std::string_view step, std::string_view title, const DeviceInfo& device,
             const std::string& note);

  /// Announces that the next result will be of `configuration`, one of `total`. Says whether it is still wanted: Ctrl-C
  /// ends a sweep after the result at hand, and so does a reader who has left where no --json file is wanted. On a
  /// terminal, a line says which one is being measured until its row is there.
  bool expect(const Configuration& configuration, std::size_t total);

  /// Prints a result as soon as it is there: its row, in a sweep also its place in the --json file, without --sweep
  /// also what it was measured on and, without --json, what others have published of its step beside a time; an error
  /// goes to stderr.
  void add(const Result& result);

  /// Without a --json file, names the page to read next on a terminal. Says whether all results were verified, or that
  /// Ctrl-C ended them.
  ExitCode finish();

 private:
  std::string json() const;
  void tell(const Result& result);
  void tell_counters(const Result& result);
  void print_rows(const Table& table);
  void print(const std::string& text);

  bool quiet_;
  std::optional<Sweep> sweep_;
  OutputFile json_file_;
  std::FILE* out_;
  Terminal terminal_;
  std::optional<Result> compared_;
  std::vector<Result> results_;
  std::optional<TableLayout> table_;
  std::optional<Interruption> interruption_;  ///< none for a single result, which Ctrl-C may end at once
  bool interrupted_ = false;
  bool progress_shown_ = false;
};

}  // namespace reduction
