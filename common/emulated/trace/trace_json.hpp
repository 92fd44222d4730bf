#pragma once
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "emulated/trace/trace.hpp"

namespace __emulated {

/// What a trace has as its "format" and "version".
inline constexpr const char* trace_format = "reduction trace";
inline constexpr int trace_version = 1;

/// Makes JSON of what one lane has had to do with in an event, such as what it has read: the device knows its bytes only.
using WriteValue = std::function<nlohmann::ordered_json(const Event& event, const LaneEvent::Bytes& value)>;

/// The first bytes, as an unsigned integer.
nlohmann::ordered_json bits_json(const LaneEvent::Bytes& bytes, std::size_t count);

/// What a trace is of, beside what the device knows of it.
struct TraceSubject {
  std::string program;
  std::string title;
  std::string type;  ///< of an element, such as "int32"
  WriteValue value;
};

/// Writes a trace as JSON, an event per line (common/explorer/README.md). Reads the source files that the events are in.
std::string trace_json(const BlockTrace& trace, const TraceSubject& subject);

}  // namespace __emulated
