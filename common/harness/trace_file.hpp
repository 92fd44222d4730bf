#pragma once

#include <functional>

#include "emulated/trace/trace.hpp"
#include "harness/element_type.hpp"
#include "harness/options.hpp"
#include "harness/text_file.hpp"

namespace reduction {

/// What a trace is of, beside what the device knows of it.
struct TraceSubject {
  std::string program;
  std::string title;
  ElementType type = ElementType::int32;  ///< of the values in memory
};

/// Writes a trace as JSON, an event per line (common/explorer/README.md). Reads the source files that the events
/// are in.
std::string trace_json(const __emulated::BlockTrace& trace, const TraceSubject& subject);

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
