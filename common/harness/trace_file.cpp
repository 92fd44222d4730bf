#include "harness/trace_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "device/emulated/finding.hpp"
#include "device/emulated/trace.hpp"
#include "explorer_page.hpp"

namespace reduction {

namespace {

std::string read_trace_beside(const std::string& file) {
  if (file.empty()) return "";
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  if (is_trace(text.str())) return text.str();
  throw UsageError(
      fmt::format("--trace-beside '{}': it is no such file; give the .json file of a --trace", file));
}

bool is_page(const std::string& file) { return file.ends_with(".html"); }

std::string summary(const emulated::BlockTrace& trace, const std::string& file) {
  return fmt::format("{}: block {} of pass {}, {} events{}{}\n", file, trace.block, trace.launch,
                     trace.events.size(), trace.truncated ? ", the rest left out" : "",
                     is_page(file) ? "; open it in a browser" : "");
}

/// Names the block of a finding, if it is another one than that of the trace. \param pass  of the finding.
std::string where_to_look(const emulated::KernelFinding& finding, std::size_t pass,
                          const TraceOptions& options) {
  std::optional<std::size_t> block;
  for (const emulated::Finding& each : finding.findings()) {
    for (const emulated::Witness& witness : each.witnesses) {
      if (pass == options.pass && witness.block == options.block) return "";
      if (!block) block = witness.block;
    }
  }
  if (!block) return "";
  return fmt::format("The finding is of block {1} of pass {0}, which --trace-block {0}:{1} traces.\n", pass,
                     *block);
}

}  // namespace

TraceFile::TraceFile(const TraceOptions& options)
    : options_(options), file_(options.file, "--trace"), beside_(read_trace_beside(options.beside_file)) {}

std::string TraceFile::document(const std::string& trace) const {
  if (!is_page(options_.file)) return trace;
  return explorer_page(beside_.empty() ? fmt::format("[{}]", trace) : fmt::format("[{},{}]", trace, beside_));
}

void TraceFile::record(const TraceSubject& subject, bool quiet, const std::function<void()>& body) const {
  if (options_.file.empty()) return body();
  const emulated::TraceRecord record(options_.pass, options_.block);
  const auto write = [&] {
    file_.write(document(trace_json(*record.trace(), subject)));
    if (!quiet) fmt::print(stderr, "{}", summary(*record.trace(), options_.file));
  };
  try {
    body();
  } catch (const emulated::KernelFinding& finding) {
    if (record.trace()) write();
    if (!quiet) fmt::print(stderr, "{}", where_to_look(finding, record.launches(), options_));
    throw;
  }
  if (!record.trace()) {
    throw UsageError(
        fmt::format("--trace-block '{}:{}': no launch has such a block", options_.pass, options_.block));
  }
  write();
}

}  // namespace reduction
