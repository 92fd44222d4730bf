#pragma once

#include <string>

#include "device/emulated/trace.hpp"
#include "harness/element_type.hpp"

namespace reduction {

/// What a trace is of, beside what the device knows of it.
struct TraceSubject {
  std::string program;
  std::string title;
  ElementType type = ElementType::int32;  ///< of the values in memory
};

/// Writes a trace as JSON, an event per line (common/explorer/README.md). Reads the source files that the events
/// are in.
std::string trace_json(const emulated::BlockTrace& trace, const TraceSubject& subject);

/// Says whether a text is such a trace.
bool is_trace(const std::string& text);

}  // namespace reduction
