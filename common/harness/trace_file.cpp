#include "harness/trace_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "emulated/count/warp_instructions.hpp"
#include "emulated/findings/finding.hpp"
#include "emulated/findings/report.hpp"
#include "emulated/findings/source_location.hpp"
#include "emulated/findings/source_text.hpp"
#include "emulated/run/device.hpp"
#include "emulated/run/launch.hpp"
#include "explorer_page.hpp"
#include "harness/exit_code.hpp"
#include "harness/result_json.hpp"

namespace reduction {

namespace {

using __emulated::BlockTrace;
using __emulated::Event;
using __emulated::EventKind;
using __emulated::LaneEvent;
using __emulated::SourceLocation;
using Json = nlohmann::ordered_json;

constexpr std::string_view format = "reduction trace";
constexpr int version = 1;

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

/// As an unsigned integer.
Json bits_json(const LaneEvent::Bytes& bytes, std::size_t count) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), std::min(count, sizeof number));
  return number > (std::uint64_t{1} << 53) ? Json(std::to_string(number)) : Json(number);
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
  return bits_json(bytes, count);
}

// ---- places in the source ----

/// The file and its folder, which is the step's.
std::string short_path(const std::string& file) {
  const std::filesystem::path path{file};
  return (path.parent_path().filename() / path.filename()).string();
}

/// None of a file that has changed since the program was built: the lines' numbers are those of the old one.
std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  if (__emulated::is_newer_than_the_program(file)) return lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

/// The source files of a trace, numbered as it comes to them.
using Sources = std::vector<std::string>;

std::size_t number_of(const std::string& file, Sources& sources) {
  const auto number = static_cast<std::size_t>(std::ranges::find(sources, file) - sources.begin());
  if (number == sources.size()) sources.push_back(file);
  return number;
}

/// Puts the location of a call site into `json`: the kernel's own line, then the calls that lead from there to the access.
void put_location(const std::vector<SourceLocation>& frames, Sources& sources, Json& json) {
  const auto put = [&](const SourceLocation& location, Json& target) {
    target["source"] = location.line == 0 ? 0 : number_of(location.file, sources);
    target["line"] = location.line;
    target["column"] = location.column;
  };
  put(frames.empty() ? SourceLocation{} : frames.back(), json);
  if (frames.size() < 2) return;
  Json& calls = json["calls"] = Json::array();
  for (std::size_t i = frames.size() - 1; i-- > 0;) {
    put(frames[i], calls.emplace_back(Json::object()));
  }
}

/// Looks all locations up at once.
std::vector<__emulated::CodeLocation> locations_of(const BlockTrace& trace) {
  std::vector<const void*> instructions;  // each before the one to which a call returns
  for (const Event& event : trace.events)
    if (event.call_site != nullptr)
      instructions.push_back(static_cast<const std::byte*>(event.call_site) - 1);
  return __emulated::locate(instructions);
}

/// On one line. A source file may have bytes that are no UTF-8.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// ---- events ----

/// What each lane has of a member, or what a function makes of the lane.
template <typename Member> Json of_lanes(const Event& event, const Member& member) {
  Json list = Json::array();
  for (const LaneEvent& lane : event.of_lanes)
    list.push_back(std::invoke(member, lane));
  return list;
}

void put_request(const Event& event, ElementType type, Json& json) {
  json["bytes"] = event.bytes;
  if (!is_shared(event.kind)) {
    const Json buffers = of_lanes(event, &LaneEvent::buffer);
    json["buffer"] = buffers.front();
    if (buffers != Json(buffers.size(), buffers.front())) json["buffers"] = buffers;
  }
  json["words"] = of_lanes(event, &LaneEvent::word);
  if (is_shared(event.kind)) {
    json["banks"] = of_lanes(event, [](const LaneEvent& lane) {
      return lane.word % static_cast<std::ptrdiff_t>(__emulated::banks);
    });
  }
  if (is_atomic(event.kind)) {
    json["before"] =
        of_lanes(event, [&](const LaneEvent& lane) { return value_json(type, lane.before, event.bytes); });
  } else if (is_shared(event.kind)) {
    json["wavefronts"] = event.wavefronts;
    json["conflicts"] = event.conflicts;
  } else {
    json["sectors"] = event.sectors;
  }
  json["values"] = of_lanes(event, [&](const LaneEvent& lane) {
    return lane.is_known ? value_json(type, lane.value, event.bytes) : Json(nullptr);
  });
}

/// A shuffle, or a vote. What lanes vote on is of no element's type, so it is written as bits.
void put_exchange(const Event& event, ElementType type, Json& json) {
  const bool is_shuffle = event.kind == EventKind::shuffle;
  const auto exchanged = [&](const LaneEvent::Bytes& bytes) {
    return is_shuffle ? value_json(type, bytes, event.bytes) : bits_json(bytes, event.bytes);
  };
  json["bytes"] = event.bytes;
  if (is_shuffle) json["from"] = of_lanes(event, &LaneEvent::source_lane);
  json["brought"] = of_lanes(event, [&](const LaneEvent& lane) { return exchanged(lane.before); });
  json["values"] = of_lanes(event, [&](const LaneEvent& lane) { return exchanged(lane.value); });
  if (is_shuffle) json["shuffles"] = event.shuffles;
}

Json event_json(const Event& event, const std::vector<SourceLocation>& frames, ElementType type,
                Sources& sources) {
  Json json{{"kind", name_of(event.kind)}};
  if (event.kind != EventKind::block_barrier) {
    json["warp"] = event.warp;
    json["lanes"] = event.lanes;
  }
  put_location(frames, sources, json);
  if (event.kind <= EventKind::global_atomic) put_request(event, type, json);
  if (event.kind == EventKind::shuffle || event.kind == EventKind::vote) put_exchange(event, type, json);
  return json;
}

// ---- findings ----

Json shape_json(const __emulated::dim3& shape) { return Json::array({shape.x, shape.y, shape.z}); }

Json finding_json(const __emulated::Finding& finding, const BlockTrace& trace, Sources& sources) {
  Json json{{"kind", name_of(finding.fault)},
            {"text", finding.text},
            {"help", finding.help},
            {"page", finding.page},
            {"witnesses", Json::array()}};
  // Where a witness is among the events; null for what never happened here.
  const std::vector<std::optional<std::size_t>> events = events_of(finding, trace);
  for (std::size_t i = 0; i < finding.witnesses.size(); ++i) {
    const __emulated::Witness& witness = finding.witnesses[i];
    Json& entry = json["witnesses"].emplace_back(
        Json{{"action", witness.action}, {"block", witness.block}, {"threads", witness.threads}});
    put_location({witness.location}, sources, entry);
    entry["event"] = events[i] ? Json(*events[i]) : Json(nullptr);
  }
  return json;
}

// ---- the file ----

std::string read_trace_beside(const std::string& file) {
  if (file.empty()) return "";
  std::string why = "it is not such a file";
  try {
    std::string text = read_text_file(file);
    const Json json = Json::parse(text, nullptr, false);
    const Json none;
    if (json.is_object() && json.value("format", none) == format && json.value("version", none) == version)
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

/// Names the block of a finding, if it is another one than that of the trace. \param pass  of the finding.
std::string where_to_look(const __emulated::KernelFinding& finding, std::size_t pass,
                          const TraceOptions& options) {
  std::optional<std::size_t> block;
  for (const __emulated::Finding& each : finding.findings()) {
    for (const __emulated::Witness& witness : each.witnesses) {
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

std::string trace_json(const BlockTrace& trace, const TraceSubject& subject) {
  Sources sources;
  const std::vector<__emulated::CodeLocation> locations = locations_of(trace);
  const std::vector<SourceLocation> nowhere;
  std::size_t located = 0;
  std::vector<std::string> events;
  for (const Event& event : trace.events) {
    const std::vector<SourceLocation>& frames =
        event.call_site != nullptr ? locations[located++].frames : nowhere;
    events.push_back(text_of(event_json(event, frames, subject.type, sources)));
  }
  std::vector<std::string> findings;
  for (const __emulated::Finding& finding : trace.findings)
    findings.push_back(text_of(finding_json(finding, trace, sources)));
  Json source_files = Json::array();
  for (const std::string& file : sources)
    source_files.push_back({{"file", short_path(file)}, {"lines", lines_of(file)}});
  Json buffers = Json::array();
  for (const std::size_t bytes : trace.buffers)
    buffers.push_back({{"bytes", bytes}});

  Json shared = Json::array();
  for (const __emulated::SharedVariable& variable : trace.shared_variables) {
    shared.push_back({{"name", variable.declaration->name},
                      {"word", variable.offset / __emulated::word_bytes},
                      {"bytes", variable.declaration->element_bytes},
                      {"extents", variable.extents()}});
  }

  const Json head{{"format", format},
                  {"version", version},
                  {"program", subject.program},
                  {"title", subject.title},
                  {"device", __emulated::device_name},
                  {"kernel", __emulated::kernel_name(trace.kernel)},
                  {"type", to_string(subject.type)},
                  {"launch",
                   {{"number", trace.launch},
                    {"grid", shape_json(trace.configuration.grid)},
                    {"block", shape_json(trace.configuration.block)},
                    {"shared_bytes", trace.configuration.shared_bytes}}},
                  {"block", trace.block},
                  {"truncated", trace.truncated},
                  {"sources", source_files},
                  {"buffers", buffers},
                  {"shared", shared},
                  {"counters", trace.counters}};
  std::string text = "{\n";
  for (const auto& [key, value] : head.items())
    text += fmt::format(" \"{}\": {},\n", key, text_of(value));
  return text + fmt::format(" \"findings\": [\n  {}\n ],\n \"events\": [\n  {}\n ]\n}}\n",
                            fmt::join(findings, ",\n  "), fmt::join(events, ",\n  "));
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
    if (!written()) say(no_block + ", up to the fault");
    const std::string elsewhere = where_to_look(finding, launches.size(), options_);
    if (!quiet && !elsewhere.empty()) say(elsewhere);
    throw;
  }
  if (!written()) throw UsageError(no_block);
}

}  // namespace reduction
