#include "emulated/program/tracer.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>

#include "emulated/findings/report.hpp"
#include "emulated/program/summary.hpp"
#include "emulated/trace/trace_json.hpp"
#include "explorer/explorer_page.hpp"

namespace emulated_program {
namespace {

using namespace __emulated;
using Json = nlohmann::ordered_json;

bool is_of_block(const Finding& finding, std::size_t block) {
  return std::ranges::find(finding.witnesses, block, &Witness::block) != finding.witnesses.end();
}

// ---- the values of a trace ----

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

/// What is in memory has no type here: as what it is written follows from its bits. Small integers are tiny numbers as
/// float, and usual floating-point numbers are huge as integers.
Json guessed_value(const Event& event, const LaneEvent::Bytes& value) {
  const std::string type = type_of(event);
  if (type.empty()) return bits_json(value, event.bytes);
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

/// The type of most values: "int32", "int64", "float32" or "float64".
std::string guessed_type(const BlockTrace& trace) {
  std::map<std::string, std::size_t> lanes;
  for (const Event& event : trace.events) {
    if (is_access(event.kind)) lanes[type_of(event)] += event.of_lanes.size();
  }
  lanes.erase("");
  if (lanes.empty()) return "int32";
  return std::ranges::max_element(lanes, {}, [](const auto& each) { return each.second; })->first;
}

}  // namespace

std::optional<std::size_t> Tracer::block_of(const std::string& kernel) {
  if (!is_meant(kernel) || ++launches_ != choice_.launch.value_or(1)) return std::nullopt;
  return choice_.block.value_or(0);
}

void Tracer::ended(const std::string& kernel, const __emulated::LaunchResult& result) {
  if (!is_meant(kernel)) return;
  if (result.trace != nullptr) {
    trace_ = result.trace;
    launch_ = launches_;
  }
  if (finding_ || launches_ != choice_.launch.value_or(launches_)) return;
  // Of the block that is traced, as far as there is a choice.
  const std::size_t block = choice_.block.value_or(0);
  for (const auto* const findings : {&result.findings, &result.unsettled}) {
    for (const Finding& finding : *findings) {
      const bool is_here = is_of_block(finding, block);
      if (finding_ ? !is_here : choice_.block && !is_here) continue;
      const std::size_t of_finding = is_here ? block : finding.witnesses.front().block;
      finding_ = TraceChoice{choice_.file, choice_.kernel, launches_, of_finding};
    }
  }
}

std::optional<TraceChoice> Tracer::elsewhere() const {
  if (!finding_ || (trace_ != nullptr && finding_->launch == launch_ && finding_->block == trace_->block))
    return std::nullopt;
  return finding_;
}

std::string Tracer::write(const std::string& program) const {
  if (trace_ == nullptr)
    throw std::runtime_error{"--trace " + choice_.text() + ": no launch has such a block"};
  const std::string kernel = __emulated::kernel_name(trace_->kernel);
  const std::string json = trace_json(*trace_, {program, kernel, guessed_type(*trace_), guessed_value});
  const bool is_page = choice_.file.ends_with(".html");
  std::ofstream file{choice_.file};
  file << (is_page ? reduction::explorer_page('[' + json + ']') : json);
  if (!file.flush()) throw std::runtime_error{choice_.file + " cannot be written"};
  return choice_.file + ": block " + std::to_string(trace_->block) + " of launch " + std::to_string(launch_) +
         " of " + kernel + ", " + count_of(trace_->events.size(), "event", "events") +
         (trace_->truncated ? ", the rest left out" : "") + (is_page ? "; open it in a browser" : "");
}

}  // namespace emulated_program
