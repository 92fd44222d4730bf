#pragma once
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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

/// With the digits that it has, or "nan", "inf" or "-inf".
template <typename Real> nlohmann::ordered_json real_json(Real value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> text{};
  std::to_chars(text.data(), text.data() + text.size() - 1, value);
  return std::strtod(text.data(), nullptr);
}

/// A string where a number in JSON may not be exact.
nlohmann::ordered_json whole_json(std::int64_t value);

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
