#include "emulated/trace/trace_json.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "emulated/count/warp_instructions.hpp"
#include "emulated/findings/report.hpp"
#include "emulated/findings/source_location.hpp"
#include "emulated/findings/source_text.hpp"
#include "emulated/run/device.hpp"
#include "emulated/trace/local_variables.hpp"

namespace __emulated {
namespace {

using Json = nlohmann::ordered_json;

// ---- places in the source ----

/// The file and its folder.
std::string short_path(const std::string& file) {
  const std::filesystem::path path{file};
  return (path.parent_path().filename() / path.filename()).string();
}

/// None of a file that has changed since the program was built: the lines' numbers are those of the old one.
std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  if (is_newer_than_the_program(file)) return lines;
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

/// Where events are.
struct Place {
  std::vector<SourceLocation> frames;
  std::vector<LocalVariable> variables;  ///< whose names are in the kernel's own line
};

/// A line without its comments and texts.
std::string code_of(const SourceLocation& location) {
  static const std::regex no_code{R"re("(\\.|[^"\\])*"|'(\\.|[^'\\])*'|//.*|/\*.*?(\*/|$))re"};
  return std::regex_replace(source_line(location).value_or(""), no_code, " ");
}

/// A variable that has its place before it has a value is set where a line above declares it with one.
bool is_set(const LocalVariable& variable, const SourceLocation& location) {
  if (!variable.may_be_unset) return true;
  if (variable.line >= location.line) return false;
  const std::regex declaration{R"([\w*&>,]\s+)" + variable.name + R"(\s*(=[^=]|\{|\()[^;]*;)"};
  return std::regex_search(code_of({location.file, variable.line}), declaration);
}

/// Where a line names a variable, and no member or name of another scope.
std::size_t find_variable(const std::string& name, const std::string& line) {
  auto at = find_name(name, line);
  while (at != line.npos && at > 0 && std::string_view{".>:"}.find(line[at - 1]) != std::string_view::npos)
    at = find_name(name, line, at + 1);
  return at;
}

/// In the order of their names in the line. Of several with one name it is the innermost that has been declared. A lambda has
/// names of its own.
std::vector<LocalVariable> named_in(const SourceLocation& location, std::vector<LocalVariable> variables) {
  static const std::regex lambda{R"(\]\s*[({])"};
  const std::string line = code_of(location);
  if (std::regex_search(line, lambda)) return {};
  std::map<std::size_t, LocalVariable> named;
  for (LocalVariable& variable : variables) {
    const auto at = find_variable(variable.name, line);
    if (at != line.npos && variable.line <= location.line) named.insert_or_assign(at, std::move(variable));
  }
  variables.clear();
  for (auto& [at, variable] : named)
    if (is_set(variable, location)) variables.push_back(std::move(variable));
  return variables;
}

/// Looks all call sites up at once.
std::map<const void*, Place> places_of(const BlockTrace& trace) {
  std::map<const void*, Place> places;
  for (const Event& event : trace.events)
    if (event.call_site != nullptr) places[event.call_site];
  std::vector<const void*> instructions;  // each before the one to which a call returns
  for (const auto& [call_site, place] : places)
    instructions.push_back(static_cast<const std::byte*>(call_site) - 1);
  const auto locations = locate(instructions);
  auto variables = local_variables(instructions);
  std::size_t next = 0;
  for (auto& [call_site, place] : places) {
    place.frames = locations[next].frames;
    if (locations[next].ends_in_function)
      place.variables = named_in(place.frames.back(), std::move(variables[next]));
    ++next;
  }
  return places;
}

Json natural_json(std::uint64_t value) {
  return value > (std::uint64_t{1} << 53) ? Json(std::to_string(value)) : Json(value);
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

void put_request(const Event& event, const WriteValue& value, Json& json) {
  json["bytes"] = event.bytes;
  if (!is_shared(event.kind)) {
    const Json buffers = of_lanes(event, &LaneEvent::buffer);
    json["buffer"] = buffers.front();
    if (buffers != Json(buffers.size(), buffers.front())) json["buffers"] = buffers;
  }
  json["words"] = of_lanes(event, &LaneEvent::word);
  if (is_shared(event.kind)) {
    json["banks"] =
        of_lanes(event, [](const LaneEvent& lane) { return lane.word % static_cast<std::ptrdiff_t>(banks); });
  }
  if (is_atomic(event.kind)) {
    json["before"] = of_lanes(event, [&](const LaneEvent& lane) { return value(event, lane.before); });
  } else if (is_shared(event.kind)) {
    json["wavefronts"] = event.wavefronts;
    json["conflicts"] = event.conflicts;
  } else {
    json["sectors"] = event.sectors;
  }
  json["values"] = of_lanes(
      event, [&](const LaneEvent& lane) { return lane.is_known ? value(event, lane.value) : Json(nullptr); });
}

/// A shuffle, or a vote. What lanes vote on is of no element's type, so it is written as bits.
void put_exchange(const Event& event, const WriteValue& value, Json& json) {
  const bool is_shuffle = event.kind == EventKind::shuffle;
  const auto exchanged = [&](const LaneEvent::Bytes& bytes) {
    return is_shuffle ? value(event, bytes) : bits_json(bytes, event.bytes);
  };
  json["bytes"] = event.bytes;
  if (is_shuffle) json["from"] = of_lanes(event, &LaneEvent::source_lane);
  json["brought"] = of_lanes(event, [&](const LaneEvent& lane) { return exchanged(lane.before); });
  json["values"] = of_lanes(event, [&](const LaneEvent& lane) { return exchanged(lane.value); });
  if (is_shuffle) json["shuffles"] = event.shuffles;
}

Json value_json(const LocalVariable& variable, std::uint64_t bits) {
  using Encoding = LocalVariable::Encoding;
  const std::size_t unused = 8 * (sizeof bits - variable.bytes);
  const std::uint64_t natural = bits << unused >> unused;
  if (variable.encoding == Encoding::truth) return natural != 0;
  if (variable.encoding == Encoding::natural) return natural_json(natural);
  if (variable.encoding == Encoding::integer)
    return whole_json(static_cast<std::int64_t>(bits << unused) >> unused);
  if (variable.bytes == sizeof(float))
    return real_json(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return real_json(std::bit_cast<double>(bits));
}

/// Those of which something is known.
void put_variables(const Event& event, const std::vector<LocalVariable>& variables, Json& json) {
  for (const LocalVariable& variable : variables) {
    const Json values = of_lanes(event, [&](const LaneEvent& lane) {
      const auto bits = variable.value_in(lane.activation);
      return bits ? value_json(variable, *bits) : Json(nullptr);
    });
    if (values != Json(values.size(), nullptr))
      json["variables"].push_back({{"name", variable.name}, {"values", values}});
  }
}

Json event_json(const Event& event, const Place& place, const WriteValue& value, Sources& sources) {
  Json json{{"kind", name_of(event.kind)}};
  if (event.kind != EventKind::block_barrier) {
    json["warp"] = event.warp;
    json["lanes"] = event.lanes;
  }
  put_location(place.frames, sources, json);
  if (event.kind <= EventKind::global_atomic) put_request(event, value, json);
  if (event.kind == EventKind::shuffle || event.kind == EventKind::vote) put_exchange(event, value, json);
  put_variables(event, place.variables, json);
  return json;
}

// ---- findings ----

Json shape_json(const dim3& shape) { return Json::array({shape.x, shape.y, shape.z}); }

Json finding_json(const Finding& finding, const BlockTrace& trace, Sources& sources) {
  Json json{{"kind", name_of(finding.fault)},
            {"text", finding.text},
            {"help", finding.help},
            {"page", finding.page},
            {"witnesses", Json::array()}};
  // Where a witness is among the events; null for what never happened here.
  const std::vector<std::optional<std::size_t>> events = events_of(finding, trace);
  for (std::size_t i = 0; i < finding.witnesses.size(); ++i) {
    const Witness& witness = finding.witnesses[i];
    Json& entry = json["witnesses"].emplace_back(
        Json{{"action", witness.action}, {"block", witness.block}, {"threads", witness.threads}});
    put_location({witness.location}, sources, entry);
    entry["event"] = events[i] ? Json(*events[i]) : Json(nullptr);
  }
  return json;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += (&line == &lines.front() ? "" : ",\n  ") + line;
  return text;
}

}  // namespace

nlohmann::ordered_json bits_json(const LaneEvent::Bytes& bytes, std::size_t count) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), std::min(count, sizeof number));
  return natural_json(number);
}

nlohmann::ordered_json whole_json(std::int64_t value) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  return value < -exact || value > exact ? Json(std::to_string(value)) : Json(value);
}

std::string trace_json(const BlockTrace& trace, const TraceSubject& subject) {
  Sources sources;
  std::map<const void*, Place> places = places_of(trace);
  std::vector<std::string> events;
  for (const Event& event : trace.events)
    events.push_back(text_of(event_json(event, places[event.call_site], subject.value, sources)));
  std::vector<std::string> findings;
  for (const Finding& finding : trace.findings)
    findings.push_back(text_of(finding_json(finding, trace, sources)));
  Json source_files = Json::array();
  for (const std::string& file : sources)
    source_files.push_back({{"file", short_path(file)}, {"lines", lines_of(file)}});
  Json buffers = Json::array();
  for (const std::size_t bytes : trace.buffers)
    buffers.push_back({{"bytes", bytes}});

  Json shared = Json::array();
  for (const SharedVariable& variable : trace.shared_variables) {
    shared.push_back({{"name", variable.declaration->name},
                      {"word", variable.offset / word_bytes},
                      {"bytes", variable.declaration->element_bytes},
                      {"extents", variable.extents()}});
  }

  Json counters;
  for (const NamedCounter& named : counter_names)
    if (named.is_in_json(trace.counters)) counters[std::string{named.name}] = trace.counters.*named.counter;

  Json head{{"format", trace_format},
            {"version", trace_version},
            {"program", subject.program},
            {"title", subject.title},
            {"device", device_name},
            {"kernel", kernel_name(trace.kernel)},
            {"type", subject.type},
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
            {"counters", counters}};
  std::string text = "{\n";
  for (const auto& [key, value] : head.items())
    text += " \"" + key + "\": " + text_of(value) + ",\n";
  return text + " \"findings\": [\n  " + joined(findings) + "\n ],\n \"events\": [\n  " + joined(events) +
         "\n ]\n}\n";
}

}  // namespace __emulated
