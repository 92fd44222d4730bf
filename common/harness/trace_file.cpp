#include "harness/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "emulated/findings/finding.hpp"
#include "emulated/run/launch.hpp"
#include "emulated/trace/trace_json.hpp"
#include "explorer_page.hpp"
#include "harness/exit_code.hpp"
#include "harness/result_json.hpp"

namespace reduction {

namespace {

using __emulated::LaneEvent;
using Json = nlohmann::ordered_json;

// ---- values ----

Json element_json(ElementType type, const std::byte* bytes) {
  Value value{type};
  std::memcpy(value.bytes.data(), bytes, size_of(type));
  Json json = value;
  // A float32 is written with the digits that it has.
  const bool is_float32 = type == ElementType::float32 || type == ElementType::complex64;
  for (Json& part : json)
    if (is_float32 && part.is_number())
      part = std::strtod(fmt::format("{}", part.get<float>()).c_str(), nullptr);
  return json;
}

/// One element, a list of several, or an unsigned integer where the size is none of an element's.
Json value_json(ElementType type, const LaneEvent::Bytes& bytes, std::size_t count) {
  const std::size_t size = size_of(type);
  if (count == size) return element_json(type, bytes.data());
  if (count > size && count % size == 0) {
    Json list = Json::array();
    for (std::size_t i = 0; i < count; i += size)
      list.push_back(element_json(type, bytes.data() + i));
    return list;
  }
  return __emulated::bits_json(bytes, count);
}

// ---- the file ----

std::string read_trace_beside(const std::string& file) {
  if (file.empty()) return "";
  std::string why = "it is not such a file";
  try {
    std::string text = read_text_file(file);
    const Json json = Json::parse(text, nullptr, false);
    const Json none;
    if (json.is_object() && json.value("format", none) == __emulated::trace_format &&
        json.value("version", none) == __emulated::trace_version)
      return text;
  } catch (const std::system_error& error) {
    why = error.code().message();
  }
  throw UsageError(fmt::format("--trace-beside '{}': {}; give the .json file of a --trace", file, why));
}

bool is_page(const std::string& file) { return file.ends_with(".html"); }

std::string summary(const __emulated::BlockTrace& trace, const std::string& file) {
  return fmt::format("{}: block {} of pass {}, {}{}{}", file, trace.block, trace.launch,
                     trace.events.empty() ? "which did nothing before a fault ended the launch"
                                          : fmt::format("{} events", trace.events.size()),
                     trace.truncated ? ", the rest left out" : "",
                     is_page(file) ? "; open it in a browser" : "");
}

/// Returns the block of a finding, if it is another one than that of the trace. \param pass  of the finding.
std::optional<__emulated::TracedBlock> elsewhere(const __emulated::KernelFinding& finding, std::size_t pass,
                                                 const TraceOptions& options) {
  std::optional<__emulated::TracedBlock> block;
  for (const __emulated::Finding& each : finding.findings()) {
    for (const __emulated::Witness& witness : each.witnesses) {
      if (pass == options.pass && witness.block == options.block) return std::nullopt;
      if (!block) block = {pass, witness.block};
    }
  }
  return block;
}

void say(const std::string& text) { print(stderr, one_line(text) + '\n'); }

}  // namespace

std::string trace_json(const __emulated::BlockTrace& trace, const TraceSubject& subject) {
  const auto value = [type = subject.type](const __emulated::Event& event, const LaneEvent::Bytes& bytes) {
    return value_json(type, bytes, event.bytes);
  };
  return __emulated::trace_json(
      trace, {subject.program, subject.title, std::string{to_string(subject.type)}, value});
}

TraceFile::TraceFile(const TraceOptions& options)
    : options_(options), file_(options.file, "--trace"), beside_(read_trace_beside(options.beside_file)) {}

std::string TraceFile::document(const std::string& trace) const {
  if (!is_page(options_.file)) return trace;
  return explorer_page(beside_.empty() ? fmt::format("[{}]", trace) : fmt::format("[{},{}]", trace, beside_));
}

void TraceFile::record(const TraceSubject& subject, bool quiet, const std::function<void()>& body) const {
  if (options_.file.empty()) return body();
  std::vector<__emulated::LaunchResult> launches;
  const auto written = [&] {
    const auto traced =
        std::ranges::find_if(launches, [](const auto& each) { return each.trace != nullptr; });
    if (traced == launches.end()) return false;
    if (file_.write(document(trace_json(*traced->trace, subject))) && !quiet)
      say(summary(*traced->trace, options_.file));
    return true;
  };
  const std::string no_block =
      fmt::format("--trace-block '{}:{}': no launch has such a block", options_.pass, options_.block);
  try {
    __emulated::run_with_results(body, launches, __emulated::TracedBlock{options_.pass, options_.block});
  } catch (const __emulated::KernelFinding& finding) {
    const std::optional<__emulated::TracedBlock> other = elsewhere(finding, launches.size(), options_);
    if (other && !options_.has_block) {
      launches.clear();
      try {
        __emulated::run_with_results(body, launches, other);
      } catch (const __emulated::KernelFinding&) {  // the same one again
      }
    }
    if (!written()) say(no_block + ", up to the fault");
    if (other && options_.has_block && !quiet)
      say(fmt::format("The finding is of block {1} of pass {0}, which --trace-block {0}:{1} traces.",
                      other->launch, other->block));
    throw;
  }
  if (!written()) throw UsageError(no_block);
}

}  // namespace reduction
