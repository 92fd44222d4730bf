#include "harness/json_report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "harness/counter_names.hpp"
#include "harness/options.hpp"
#include "harness/version.hpp"

namespace reduction {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinity, and most readers of it keep integers in a double.
template <typename Number> Json number_json(Number number) {
  if constexpr (std::is_integral_v<Number>) {
    constexpr std::int64_t largest_exact = std::int64_t{1} << 53;
    if (number > largest_exact || number < -largest_exact) return std::to_string(number);
  } else if (!std::isfinite(number)) {
    return fmt::format("{}", number);
  }
  return number;
}

Json value_json(const Value& value) {
  return visit_real(value.type, [&]<typename Real>(Real) -> Json {
    if constexpr (std::is_integral_v<Real>) {
      return number_json(
          static_cast<std::int64_t>(static_cast<std::make_signed_t<Real>>(part_of<Real>(value, 0))));
    } else if (is_complex(value.type)) {
      return Json::array({number_json(part_of<Real>(value, 0)), number_json(part_of<Real>(value, 1))});
    } else {
      return number_json(part_of<Real>(value, 0));
    }
  });
}

template <typename Number> Json or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json device_json(const DeviceInfo& device) {
  return {{"kind", device.kind},
          {"name", device.name},
          {"compute_capability",
           device.compute_capability.empty() ? Json(nullptr) : Json(device.compute_capability)},
          {"sms", device.sms > 0 ? Json(device.sms) : Json(nullptr)},
          {"l2_bytes", device.l2_bytes > 0 ? Json(device.l2_bytes) : Json(nullptr)},
          {"peak_gbps", or_null(device.peak_gbps)}};
}

Json ms_json(const std::optional<Summary>& ms) {
  if (!ms) return nullptr;
  return {{"median", ms->median}, {"p5", ms->p5}, {"p95", ms->p95}, {"min", ms->minimum}};
}

Json counters_json(const std::optional<emulated::Counters>& counters) {
  if (!counters) return nullptr;
  Json json;
  for (const NamedCounter& named : counter_names)
    json[named.name] = (*counters).*named.counter;
  return json;
}

Json passes_json(const Result& result) {
  Json list = Json::array();
  for (std::size_t k = 0; k < result.passes.size(); ++k) {
    const auto counters =
        k < result.pass_counters.size() ? std::optional(result.pass_counters[k]) : std::nullopt;
    list.push_back({{"elements", result.passes[k].elements},
                    {"blocks", result.passes[k].blocks},
                    {"counters", counters_json(counters)}});
  }
  return list;
}

}  // namespace

Json to_json(const Result& result) {
  Json json{{"step", result.step},
            {"title", result.title},
            {"device", device_json(result.device)},
            {"type", to_string(result.type)},
            {"elements", result.input.n},
            {"block", result.block > 0 ? Json(result.block) : Json(nullptr)},
            {"grid", result.passes.empty() ? Json(nullptr) : Json(result.passes.front().blocks)},
            {"samples", result.samples},
            {"ms", ms_json(result.ms)},
            {"gbps", or_null(result.gbps())},
            {"percent_of_peak", or_null(result.percent_of_peak())},
            {"result", value_json(result.value)},
            {"expected", value_json(result.expected)},
            {"error", number_json(result.verdict.error)},
            {"tolerance", number_json(result.verdict.tolerance)},
            {"verified", result.verdict.verified},
            {"data", to_string(result.input.data)},
            {"seed", result.input.seed},
            {"version", version},
            {"passes", passes_json(result)},
            {"counters", counters_json(result.counters())}};
  if (!result.variant.empty()) json["variant"] = result.variant;
  for (const Result& variant : result.other_variants)
    json["other_variants"].push_back(to_json(variant));
  return json;
}

JsonFile::JsonFile(std::string path) : path_(std::move(path)) {
  if (path_.empty() || path_ == "-") return;
  // Only an ordinary file can be replaced by renaming; a pipe or a terminal is written as it is.
  const bool ordinary = !std::filesystem::exists(path_) || std::filesystem::is_regular_file(path_);
  if (ordinary) partial_ = path_.string() + ".partial";
  errno = 0;
  stream_.open(ordinary ? partial_ : path_);
  if (!stream_) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "it cannot be opened";
    partial_.clear();
    throw UsageError(
        fmt::format("--json '{}': {}; name a file in a folder that can be written", path_.string(), reason));
  }
}

JsonFile::~JsonFile() {
  if (partial_.empty()) return;
  std::error_code ignored;  // nothing was promised: the run has already said what went wrong
  std::filesystem::remove(partial_, ignored);
}

void JsonFile::write(const Json& document) {
  if (path_.empty()) return;
  std::ostream& out = path_ == "-" ? std::cout : stream_;
  out << document.dump(2) << '\n' << std::flush;
  if (!out) throw UsageError(fmt::format("--json '{}': writing failed", path_.string()));
  if (partial_.empty()) return;
  stream_.close();
  std::filesystem::rename(partial_, path_);
  partial_.clear();
}

}  // namespace reduction
