#include "emulated/program/guessed_values.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>

namespace emulated_program {
namespace {

using __emulated::Event;
using __emulated::LaneEvent;
using __emulated::real_json;
using __emulated::whole_json;
using Json = nlohmann::ordered_json;

template <typename T> T part_of(const LaneEvent::Bytes& bytes, std::size_t part) {
  T value;
  std::memcpy(&value, bytes.data() + part * sizeof(T), sizeof(T));
  return value;
}

/// Whether most parts of what lanes access, but for zeros, are of a size that floating-point numbers usually have.
template <typename Real, typename Bits> bool may_be(const Event& event) {
  std::size_t parts = 0;
  std::size_t usual = 0;
  for (const LaneEvent& lane : event.of_lanes) {
    for (std::size_t part = 0; (part + 1) * sizeof(Real) <= event.bytes; ++part) {
      if (!lane.is_known || part_of<Bits>(lane.value, part) == 0) continue;
      const Real size = std::abs(part_of<Real>(lane.value, part));
      ++parts;
      if (size > Real(1e-12) && size < Real(1e12)) ++usual;
    }
  }
  return 2 * usual > parts;
}

bool has_size(const Event& event, std::size_t bytes) { return event.bytes != 0 && event.bytes % bytes == 0; }

const char* type_of(const Event& event) {
  if (!has_size(event, 4)) return "";
  const bool has_floats = may_be<float, std::uint32_t>(event);
  if (!has_size(event, 8)) return has_floats ? "float32" : "int32";
  // The lower half of a double is anything, or 0; those of two floats look like floats.
  const bool has_low_halves = std::ranges::any_of(
      event.of_lanes, [](const LaneEvent& lane) { return part_of<std::uint32_t>(lane.value, 0) != 0; });
  if (may_be<double, std::uint64_t>(event) && !(has_floats && has_low_halves)) return "float64";
  return has_floats ? "float32" : event.bytes == 8 ? "int64" : "int32";
}

}  // namespace

Json guessed_value(const Event& event, const LaneEvent::Bytes& value) {
  const std::string type = type_of(event);
  if (type.empty()) return __emulated::bits_json(value, event.bytes);
  const std::size_t size = type.ends_with("64") ? 8 : 4;
  Json parts = Json::array();
  for (std::size_t part = 0; part < event.bytes / size; ++part) {
    if (type == "int32") parts.push_back(part_of<std::int32_t>(value, part));
    if (type == "int64") parts.push_back(whole_json(part_of<std::int64_t>(value, part)));
    if (type == "float32") parts.push_back(real_json(part_of<float>(value, part)));
    if (type == "float64") parts.push_back(real_json(part_of<double>(value, part)));
  }
  return parts.size() == 1 ? parts.front() : parts;
}

std::string guessed_type(const __emulated::BlockTrace& trace) {
  std::map<std::string, std::size_t> lanes;
  for (const Event& event : trace.events) {
    if (is_access(event.kind)) lanes[type_of(event)] += event.of_lanes.size();
  }
  lanes.erase("");
  if (lanes.empty()) return "int32";
  return std::ranges::max_element(lanes, {}, [](const auto& each) { return each.second; })->first;
}

}  // namespace emulated_program
