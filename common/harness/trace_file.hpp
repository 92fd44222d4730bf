#pragma once

#include <functional>
#include <string>

#include "harness/options.hpp"
#include "harness/output_file.hpp"
#include "harness/trace_json.hpp"

namespace reduction {

/// Where --trace writes, if the command line has it.
class TraceFile {
 public:
  /// Throws UsageError for a file that cannot be written, or another trace that cannot be read, before anything runs.
  explicit TraceFile(const TraceOptions& options);

  /// Runs `body` with one block of its launches traced and writes the trace, also if a kernel's fault ends it; says so on
  /// stderr unless `quiet`. Without --trace it only runs `body`. Throws UsageError if no launch had such a block.
  void record(const TraceSubject& subject, bool quiet, const std::function<void()>& body) const;

 private:
  std::string document(const std::string& trace) const;

  TraceOptions options_;
  OutputFile file_;
  std::string beside_;  ///< the trace for the same page, or empty
};

}  // namespace reduction
