#include "harness/result_json.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "harness/options.hpp"
#include "harness/text_file.hpp"
#include "harness/version.hpp"

namespace reduction {

namespace {

using Json = nlohmann::ordered_json;

/// Returns what nlohmann_json says of an error, without the error's number.
std::string_view message_of(const Json::exception& error) {
  const std::string_view what = error.what();
  return what.substr(what.find("] ") + 2);
}

/// Reads a key. nlohmann_json names one that is missing, but not one of another type.
template <typename T> void read(const Json& json, const std::string& key, T&& value) {
  try {
    json.at(key).get_to(value);
  } catch (const Json::type_error& error) {
    throw UsageError(fmt::format("key '{}': {}", key, message_of(error)));
  }
}

/// Reads one of the values that to_string() names.
template <typename Value, std::size_t count>
void read_name(const Json& json, const std::string& key, Value& value,
               const std::array<Value, count>& values) {
  std::string name;
  read(json, key, name);
  for (const Value candidate : values) {
    if (to_string(candidate) != name) continue;
    value = candidate;
    return;
  }
  throw UsageError(fmt::format("key '{}': {} is unknown", key, json.at(key).dump()));
}

/// What is 0 or empty where a device has no such thing, which JSON has as null.
template <typename T> std::optional<T> if_any(const T& value) {
  return value == T{} ? std::nullopt : std::optional(value);
}
template <typename T> void read_if_any(const Json& json, const std::string& key, T& value) {
  std::optional<T> found;
  read(json, key, found);
  value = found.value_or(T{});
}

/// A number that JSON has as text where it would not survive: there is no NaN and no infinity, and most readers keep
/// integers in a double.
template <typename Number> struct Exact { Number& number; };
template <typename Number> Exact(Number&) -> Exact<Number>;  // clang 14 takes no aggregate without it

template <typename Number> void to_json(Json& json, const Exact<Number>& exact) {
  json = exact.number;
  if constexpr (std::is_integral_v<Number>) {
    constexpr std::int64_t largest_exact = std::int64_t{1} << 53;
    if (std::cmp_greater(exact.number, largest_exact) || std::cmp_less(exact.number, -largest_exact))
      json = std::to_string(exact.number);
  } else if (!std::isfinite(exact.number)) {
    json = fmt::format("{}", exact.number);
  }
}

template <typename Number> void from_json(const Json& json, Exact<Number>& exact) {
  if (!json.is_string()) {
    json.get_to(exact.number);
    return;
  }
  const auto text = json.get<std::string>();
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), exact.number);
  if (parsed.ec != std::errc{}) throw UsageError(fmt::format("{} is no number", json.dump()));
}

/// The type as which a component is shown: integers, which are stored as unsigned ones, are signed.
template <typename Real>
using Shown = typename std::conditional_t<std::is_integral_v<Real>, std::make_signed<Real>,
                                          std::type_identity<Real>>::type;

}  // namespace

void emulated::to_json(Json& json, const Counters& counters) {
  for (const NamedCounter& named : counter_names)
    json[named.name] = counters.*named.counter;
}

void emulated::from_json(const Json& json, Counters& counters) {
  for (const NamedCounter& named : counter_names)
    read(json, std::string(named.name), counters.*named.counter);
}

void to_json(Json& json, const DeviceInfo& device) {
  json = {{"kind", to_string(device.kind)},
          {"name", device.name},
          {"compute_capability", if_any(device.compute_capability)},
          {"sms", if_any(device.sms)},
          {"l2_bytes", if_any(device.l2_bytes)},
          {"peak_gbps", device.peak_gbps}};
}

void from_json(const Json& json, DeviceInfo& device) {
  read_name(json, "kind", device.kind, std::array{DeviceKind::cuda, DeviceKind::emulated, DeviceKind::cpu});
  read(json, "name", device.name);
  read_if_any(json, "compute_capability", device.compute_capability);
  read_if_any(json, "sms", device.sms);
  read_if_any(json, "l2_bytes", device.l2_bytes);
  read(json, "peak_gbps", device.peak_gbps);
}

void to_json(Json& json, const Summary& ms) {
  json = {{"median", ms.median}, {"p5", ms.p5}, {"p95", ms.p95}, {"min", ms.minimum}};
}

void from_json(const Json& json, Summary& ms) {
  read(json, "median", ms.median);
  read(json, "p5", ms.p5);
  read(json, "p95", ms.p95);
  read(json, "min", ms.minimum);
}

void to_json(Json& json, const TimingMethod& timing) {
  json = {{"flush", to_string(timing.flush)},
          {"warm_up", timing.warm_up_runs},
          {"queued", timing.queued},
          {"lead_in", timing.lead_in}};
}

void from_json(const Json& json, TimingMethod& timing) {
  read_name(json, "flush", timing.flush, std::array{Flush::read, Flush::memset, Flush::none});
  read(json, "warm_up", timing.warm_up_runs);
  read(json, "queued", timing.queued);
  read(json, "lead_in", timing.lead_in);
}

void to_json(Json& json, const Pass& pass) { json = {{"elements", pass.elements}, {"blocks", pass.blocks}}; }

void from_json(const Json& json, Pass& pass) {
  read(json, "elements", pass.elements);
  read(json, "blocks", pass.blocks);
}

void to_json(Json& json, const Value& value) {
  visit_real(value.type, [&]<typename Real>(Real) {
    std::array<Shown<Real>, 2> parts;
    std::memcpy(parts.data(), value.bytes.data(), sizeof(parts));
    json = Exact{parts[0]};
    if (is_complex(value.type)) json = Json::array({json, Exact{parts[1]}});
  });
}

void from_json(const Json& json, Value& value) {
  visit_real(value.type, [&]<typename Real>(Real) {
    std::array<Shown<Real>, 2> parts{};
    for (std::size_t k = 0; k < parts_of(value.type); ++k) {
      Exact part{parts[k]};
      (is_complex(value.type) ? json.at(k) : json).get_to(part);
    }
    std::memcpy(value.bytes.data(), parts.data(), sizeof(parts));
  });
}

void to_json(Json& json, const Result& result) {
  json = {{"step", result.step},
          {"title", result.title},
          {"device", result.device},
          {"type", to_string(result.type)},
          {"elements", result.input.n},
          {"block", if_any(result.block)},
          {"grid", result.passes.empty() ? Json(nullptr) : Json(result.passes.front().blocks)},
          {"samples", result.samples},
          {"ms", result.ms},
          {"first_run_ms", result.first_run_ms},
          {"timing", result.timing},
          {"gbps", result.gbps()},
          {"percent_of_peak", result.percent_of_peak()},
          {"result", result.value},
          {"expected", result.expected},
          {"error", Exact{result.verdict.error}},
          {"tolerance", Exact{result.verdict.tolerance}},
          {"verified", result.verdict.verified},
          {"data", to_string(result.input.data)},
          {"seed", Exact{result.input.seed}},
          {"version", version},
          {"passes", result.passes},
          {"counters", result.counters()}};
  for (std::size_t k = 0; k < result.passes.size(); ++k)
    json["passes"][k]["counters"] =
        k < result.pass_counters.size() ? Json(result.pass_counters[k]) : Json(nullptr);
  if (!result.variant.empty()) json["variant"] = result.variant;
  if (!result.other_variants.empty()) json["other_variants"] = result.other_variants;
}

void from_json(const Json& json, Result& result) {
  read(json, "step", result.step);
  read(json, "title", result.title);
  read(json, "device", result.device);
  read_name(json, "type", result.type, element_types);
  read(json, "elements", result.input.n);
  read_if_any(json, "block", result.block);
  read(json, "samples", result.samples);
  read(json, "ms", result.ms);
  read(json, "first_run_ms", result.first_run_ms);
  read(json, "timing", result.timing);
  result.value.type = result.expected.type = result.type;
  read(json, "result", result.value);
  read(json, "expected", result.expected);
  read(json, "error", Exact{result.verdict.error});
  read(json, "tolerance", Exact{result.verdict.tolerance});
  read(json, "verified", result.verdict.verified);
  read_name(json, "data", result.input.data, std::array{Data::random, Data::ones, Data::cancelling});
  read(json, "seed", Exact{result.input.seed});
  read(json, "passes", result.passes);
  std::optional<emulated::Counters> counters;
  for (const Json& pass : json.at("passes")) {
    read(pass, "counters", counters);
    if (counters) result.pass_counters.push_back(*counters);
  }
  // A step that chooses its own launch does not say which passes were counted.
  read(json, "counters", counters);
  if (counters && result.passes.empty()) result.pass_counters = {*counters};
  if (json.contains("ranks")) read(json, "ranks", result.devices);
  if (json.contains("variant")) read(json, "variant", result.variant);
  if (json.contains("other_variants")) read(json, "other_variants", result.other_variants);
}

std::string json_text(const Result& result) { return Json(result).dump(2) + '\n'; }

std::string json_text(const std::vector<Result>& results) { return Json(results).dump(2) + '\n'; }

std::vector<Result> read_results(const std::string& file, Json& documents) {
  std::string reason = "there is no result in it";
  try {
    Json list = Json::parse(read_text_file(file));
    if (!list.is_array()) list = Json::array({std::move(list)});
    auto results = list.get<std::vector<Result>>();
    documents.insert(documents.end(), list.begin(), list.end());
    if (!results.empty()) return results;
  } catch (const std::system_error& error) {
    reason = error.code().message();
  } catch (const Json::parse_error& error) {
    reason = fmt::format("it is no JSON, from byte {} on", error.byte);
  } catch (const Json::exception& error) {
    reason = message_of(error);
  } catch (const UsageError& error) {
    reason = error.what();
  }
  throw UsageError(fmt::format("'{}': {}; give the --json file of a step", file, reason));
}

Result read_compared_result(const std::string& file, ElementType type, bool in_sweep) {
  Json documents = Json::array();
  const std::vector<Result> results = read_results(file, documents);
  const Result& result = results.front();
  if (in_sweep || (results.size() == 1 && result.type == type)) return result;
  const std::string reason = results.size() > 1
                                 ? "it is a sweep's"
                                 : fmt::format("it ran {}, not {}", to_string(result.type), to_string(type));
  throw UsageError(
      fmt::format("--compare '{}': {}; give the --json file of one run of a step", file, reason));
}

}  // namespace reduction
