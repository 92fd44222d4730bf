#include "emulated/trace/trace_json.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <vector>

#include "emulated/count/warp_instructions.hpp"
#include "emulated/findings/report.hpp"
#include "emulated/findings/source_location.hpp"
#include "emulated/findings/source_text.hpp"
#include "emulated/run/device.hpp"

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

/// Looks all locations up at once.
std::vector<CodeLocation> locations_of(const BlockTrace& trace) {
  std::vector<const void*> instructions;  // each before the one to which a call returns
  for (const Event& event : trace.events)
    if (event.call_site != nullptr)
      instructions.push_back(static_cast<const std::byte*>(event.call_site) - 1);
  return locate(instructions);
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

Json event_json(const Event& event, const std::vector<SourceLocation>& frames, const WriteValue& value,
                Sources& sources) {
  Json json{{"kind", name_of(event.kind)}};
  if (event.kind != EventKind::block_barrier) {
    json["warp"] = event.warp;
    json["lanes"] = event.lanes;
  }
  put_location(frames, sources, json);
  if (event.kind <= EventKind::global_atomic) put_request(event, value, json);
  if (event.kind == EventKind::shuffle || event.kind == EventKind::vote) put_exchange(event, value, json);
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
  return number > (std::uint64_t{1} << 53) ? Json(std::to_string(number)) : Json(number);
}

std::string trace_json(const BlockTrace& trace, const TraceSubject& subject) {
  Sources sources;
  const std::vector<CodeLocation> locations = locations_of(trace);
  const std::vector<SourceLocation> nowhere;
  std::size_t located = 0;
  std::vector<std::string> events;
  for (const Event& event : trace.events) {
    const std::vector<SourceLocation>& frames =
        event.call_site != nullptr ? locations[located++].frames : nowhere;
    events.push_back(text_of(event_json(event, frames, subject.value, sources)));
  }
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
