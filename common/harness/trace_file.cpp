#include "harness/trace_file.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <system_error>

#include "device/emulated/finding.hpp"
#include "device/emulated/trace.hpp"
#include "explorer_page.hpp"
#include "harness/exit_code.hpp"
#include "harness/standard_streams.hpp"
#include "harness/text_file.hpp"

namespace reduction {

namespace {

std::string read_trace_beside(const std::string& file) {
  if (file.empty()) return "";
  std::string why = "it is not such a file";
  try {
    std::string text = read_text_file(file);
    if (is_trace(text)) return text;
  } catch (const std::system_error& error) {
    why = error.code().message();
  }
  throw UsageError(fmt::format("--trace-beside '{}': {}; give the .json file of a --trace", file, why));
}

bool is_page(const std::string& file) { return file.ends_with(".html"); }

std::string summary(const emulated::BlockTrace& trace, const std::string& file) {
  return fmt::format("{}: block {} of pass {}, {}{}{}", file, trace.block, trace.launch,
                     trace.events.empty() ? "which did nothing before a fault ended the launch"
                                          : fmt::format("{} events", trace.events.size()),
                     trace.truncated ? ", the rest left out" : "",
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
  return fmt::format("The finding is of block {1} of pass {0}, which --trace-block {0}:{1} traces.", pass,
                     *block);
}

void say(const std::string& text) { print(stderr, one_line(text) + '\n'); }

}  // namespace

TraceFile::TraceFile(const TraceOptions& options)
    : options_(options), file_(options.file, "--trace"), beside_(read_trace_beside(options.beside_file)) {
  if (file_.is_stdout())
    throw UsageError(
        fmt::format("--trace '{}': it is stdout, where the table goes; name another file", options.file));
}

std::string TraceFile::document(const std::string& trace) const {
  if (!is_page(options_.file)) return trace;
  return explorer_page(beside_.empty() ? fmt::format("[{}]", trace) : fmt::format("[{},{}]", trace, beside_));
}

void TraceFile::record(const TraceSubject& subject, bool quiet, const std::function<void()>& body) const {
  if (options_.file.empty()) return body();
  const emulated::TraceRecord record(options_.pass, options_.block);
  const auto write = [&] {
    if (file_.write(document(trace_json(*record.trace(), subject))) && !quiet)
      say(summary(*record.trace(), options_.file));
  };
  const std::string no_block =
      fmt::format("--trace-block '{}:{}': no launch has such a block", options_.pass, options_.block);
  try {
    body();
  } catch (const emulated::KernelFinding& finding) {
    record.trace() ? write() : say(no_block + ", up to the fault");
    const std::string elsewhere = where_to_look(finding, record.launches(), options_);
    if (!quiet && !elsewhere.empty()) say(elsewhere);
    throw;
  }
  if (!record.trace()) throw UsageError(no_block);
  write();
}

}  // namespace reduction
