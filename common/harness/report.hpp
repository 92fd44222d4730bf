#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "harness/configuration.hpp"
#include "harness/counter_report.hpp"
#include "harness/exit_code.hpp"
#include "harness/json_report.hpp"
#include "harness/options.hpp"
#include "harness/result.hpp"

namespace reduction {

/// The device in a line: name, compute capability, multiprocessors, L2, peak.
std::string device_text(const DeviceInfo& device);

/// The result and its reference in a line, and what separates them.
std::string verdict_text(const Result& result);

/// What a run prints and writes: a heading, the results as rows of a Markdown table, a --json file. Where that file is
/// stdout, everything else goes to stderr.
class Report {
 public:
  /// Throws UsageError when the --json file cannot be written or the --compare file not be read: before anything runs.
  explicit Report(const Options& options);

  /// The heading; `note` says why it is this device, where that needs saying.
  void begin(std::string_view step, std::string_view title, const DeviceInfo& device,
             const std::string& note);

  /// On a terminal, the line that says which of a sweep's configurations is being measured; the next row erases it.
  void show_progress(const Configuration& configuration, std::size_t number, std::size_t total);

  /// A result as soon as it is there: its row, in a sweep also its place in the --json file, without --sweep also what it was measured on and what others
  /// have published of its step; an error goes to stderr.
  void add(const Result& result);

  /// Writes the --json file: the result, or the list of a sweep; none where there is no result. Says whether all results were verified.
  ExitCode finish();

 private:
  void add_row(const Result& result);
  void print_documented(const std::string& step);
  void print(const std::string& text);

  bool quiet_;
  bool sweep_;
  std::FILE* out_;
  std::optional<CountedRun> compared_;
  JsonFile json_file_;
  nlohmann::ordered_json results_ = nlohmann::ordered_json::array();
  bool verified_ = true;
  bool progress_shown_ = false;
};

}  // namespace reduction
