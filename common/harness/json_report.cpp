#include "harness/json_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "harness/options.hpp"
#include "harness/version.hpp"

namespace reduction {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN and no infinity, and most readers of it keep integers in a double.
template <typename Number> Json number_json(Number number) {
  if constexpr (std::is_integral_v<Number>) {
    constexpr std::int64_t largest_exact = std::int64_t{1} << 53;
    if (std::cmp_greater(number, largest_exact) || std::cmp_less(number, -largest_exact))
      return std::to_string(number);
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

Json counters_json(const std::optional<emulated::Counters>& counters) {
  return counters ? to_json(*counters) : Json(nullptr);
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

Json to_json(const DeviceInfo& device) {
  return {{"kind", to_string(device.kind)},
          {"name", device.name},
          {"compute_capability",
           device.compute_capability.empty() ? Json(nullptr) : Json(device.compute_capability)},
          {"sms", device.sms > 0 ? Json(device.sms) : Json(nullptr)},
          {"l2_bytes", device.l2_bytes > 0 ? Json(device.l2_bytes) : Json(nullptr)},
          {"peak_gbps", or_null(device.peak_gbps)}};
}

Json to_json(const Summary& ms) {
  return {{"median", ms.median}, {"p5", ms.p5}, {"p95", ms.p95}, {"min", ms.minimum}};
}

Json to_json(const TimingMethod& timing) {
  return {{"flush", to_string(timing.flush)},
          {"warm_up", timing.warm_up_runs},
          {"queued", timing.queued},
          {"lead_in", timing.lead_in}};
}

Json to_json(const emulated::Counters& counters) {
  Json json;
  for (const emulated::NamedCounter& named : emulated::counter_names)
    json[named.name] = counters.*named.counter;
  return json;
}

Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json to_json(const Result& result) {
  Json json{{"step", result.step},
            {"title", result.title},
            {"device", to_json(result.device)},
            {"type", to_string(result.type)},
            {"elements", result.input.n},
            {"block", result.block > 0 ? Json(result.block) : Json(nullptr)},
            {"grid", result.passes.empty() ? Json(nullptr) : Json(result.passes.front().blocks)},
            {"samples", result.samples},
            {"ms", result.ms ? to_json(*result.ms) : Json(nullptr)},
            {"first_run_ms", or_null(result.first_run_ms)},
            {"timing", result.timing ? to_json(*result.timing) : Json(nullptr)},
            {"gbps", or_null(result.gbps())},
            {"percent_of_peak", or_null(result.percent_of_peak())},
            {"result", value_json(result.value)},
            {"expected", value_json(result.expected)},
            {"error", number_json(result.verdict.error)},
            {"tolerance", number_json(result.verdict.tolerance)},
            {"verified", result.verdict.verified},
            {"data", to_string(result.input.data)},
            {"seed", number_json(result.input.seed)},
            {"version", version},
            {"passes", passes_json(result)},
            {"counters", counters_json(result.counters())}};
  if (!result.variant.empty()) json["variant"] = result.variant;
  for (const Result& variant : result.other_variants)
    json["other_variants"].push_back(to_json(variant));
  return json;
}

std::string json_text(const Result& result) { return to_json(result).dump(2) + '\n'; }

std::string json_text(const std::vector<Result>& results) {
  Json list = Json::array();
  for (const Result& result : results)
    list.push_back(to_json(result));
  return list.dump(2) + '\n';
}

}  // namespace reduction
