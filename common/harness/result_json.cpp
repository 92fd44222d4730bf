#include "harness/result_json.hpp"

#include <fmt/format.h>

#include <algorithm>
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

/// Writes the keys of a struct. Some have null for 0 or "", which stand for what a device does not have.
struct KeyWriter {
  Json& json;

  template <typename T> void operator()(const std::string& key, const T& value) const { json[key] = value; }
  template <typename T> void if_any(const std::string& key, const T& value) const {
    json[key] = value == T{} ? Json(nullptr) : Json(value);
  }
  template <typename T, typename All> void name(const std::string& key, const T& value, const All&) const {
    json[key] = to_string(value);
  }
  template <typename T> void rare(const std::string& key, const T& value) const {
    if (value != T{}) json[key] = value;
  }
  template <typename T> void derived(const std::string& key, const T& value) const { json[key] = value; }
};

/// Reads these keys, but for those that follow from others.
struct KeyReader {
  const Json& json;

  /// nlohmann_json names a key that is missing, but not one of another type.
  template <typename T> void operator()(const std::string& key, T&& value) const {
    try {
      json.at(key).get_to(value);
    } catch (const Json::type_error& error) {
      throw UsageError(fmt::format("key '{}': {}", key, message_of(error)));
    }
  }
  template <typename T> void if_any(const std::string& key, T& value) const {
    std::optional<T> found;
    (*this)(key, found);
    value = found.value_or(T{});
  }
  template <typename T> void rare(const std::string& key, T& value) const {
    if (json.contains(key)) (*this)(key, value);
  }
  template <typename T, typename All> void name(const std::string& key, T& value, const All& all) const {
    std::string name;
    (*this)(key, name);
    const auto found = std::find_if(all.begin(), all.end(), [&](T one) { return to_string(one) == name; });
    if (found == all.end()) throw UsageError(fmt::format("key '{}': {} is unknown", key, json[key].dump()));
    value = *found;
  }
  template <typename T> void derived(const std::string&, const T&) const {}
};

/// A number, as text where JSON would lose it: it has no NaN and no infinity, and most readers keep integers in a
/// double.
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

// The keys of each struct, in the order in which they are written.

constexpr auto counter_keys = [](const auto& key, auto& counters) {
  for (const __emulated::NamedCounter& named : __emulated::counter_names)
    named.is_rare ? key.rare(std::string(named.name), counters.*named.counter)
                  : key(std::string(named.name), counters.*named.counter);
};

constexpr auto device_keys = [](const auto& key, auto& device) {
  key.name("kind", device.kind, std::array{DeviceKind::cuda, DeviceKind::emulated, DeviceKind::cpu});
  key("name", device.name);
  key.if_any("compute_capability", device.compute_capability);
  key.if_any("sms", device.sms);
  key.if_any("l2_bytes", device.l2_bytes);
  key("peak_gbps", device.peak_gbps);
};

constexpr auto summary_keys = [](const auto& key, auto& ms) {
  key("median", ms.median);
  key("p5", ms.p5);
  key("p95", ms.p95);
  key("min", ms.minimum);
};

constexpr auto timing_keys = [](const auto& key, auto& timing) {
  key.name("flush", timing.flush, std::array{Flush::read, Flush::memset, Flush::none});
  key("warm_up", timing.warm_up_runs);
  key("queued", timing.queued);
  key("lead_in", timing.lead_in);
  key.rare("back_to_back", timing.back_to_back);
};

constexpr auto pass_keys = [](const auto& key, auto& pass) {
  key("elements", pass.elements);
  key("blocks", pass.blocks);
};

/// Without the passes and their counters, which are one list there, and without what few results have.
constexpr auto result_keys = [](const auto& key, auto& result) {
  key("step", result.step);
  key("title", result.title);
  key("device", result.device);
  key.name("type", result.type, element_types);
  if constexpr (!std::is_const_v<std::remove_reference_t<decltype(result)>>)
    result.value.type = result.expected.type = result.type;  // their JSON has no type of its own
  key("elements", result.input.n);
  key.if_any("block", result.block);
  key.derived("grid", result.passes.empty() ? Json(nullptr) : Json(result.passes.front().blocks));
  key("samples", result.samples);
  key("ms", result.ms);
  key("first_run_ms", result.first_run_ms);
  key("timing", result.timing);
  key.derived("gbps", result.gbps());
  key.derived("percent_of_peak", result.percent_of_peak());
  key("result", result.value);
  key("expected", result.expected);
  key("error", Exact{result.verdict.error});
  key("tolerance", Exact{result.verdict.tolerance});
  key("verified", result.verdict.verified);
  key.name("data", result.input.data, std::array{Data::random, Data::ones, Data::cancelling});
  key("seed", Exact{result.input.seed});
  key.derived("version", version);
};

}  // namespace

void to_json(Json& json, const DeviceInfo& device) { device_keys(KeyWriter{json}, device); }
void from_json(const Json& json, DeviceInfo& device) { device_keys(KeyReader{json}, device); }

void to_json(Json& json, const Summary& ms) { summary_keys(KeyWriter{json}, ms); }
void from_json(const Json& json, Summary& ms) { summary_keys(KeyReader{json}, ms); }

void to_json(Json& json, const TimingMethod& timing) { timing_keys(KeyWriter{json}, timing); }
void from_json(const Json& json, TimingMethod& timing) { timing_keys(KeyReader{json}, timing); }

void to_json(Json& json, const Pass& pass) { pass_keys(KeyWriter{json}, pass); }
void from_json(const Json& json, Pass& pass) { pass_keys(KeyReader{json}, pass); }

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
  result_keys(KeyWriter{json}, result);
  json["passes"] = result.passes;
  for (std::size_t k = 0; k < result.passes.size(); ++k)
    json["passes"][k]["counters"] =
        k < result.pass_counters.size() ? Json(result.pass_counters[k]) : Json(nullptr);
  json["counters"] = result.counters();
  if (const auto& shared = result.shared) {
    json["ranks"] = shared->ranks;
    json["nodes"] = shared->nodes;
    json["elements_per_rank"] = shared->elements_per_rank;
    json["weak"] = shared->weak;
    json["combined_by"] = shared->combined_by;
    json["gbps_per_rank"] = result.gbps() ? Json(*result.gbps() / shared->ranks) : Json(nullptr);
    json["times_one_rank"] = result.times_one_rank();
  }
  if (!result.variant.empty()) json["variant"] = result.variant;
  if (!result.other_variants.empty()) json["other_variants"] = result.other_variants;
}

void from_json(const Json& json, Result& result) {
  const KeyReader read{json};
  result_keys(read, result);
  read("passes", result.passes);
  std::optional<__emulated::Counters> counters;
  for (const Json& pass : json.at("passes")) {
    KeyReader{pass}("counters", counters);
    if (counters) result.pass_counters.push_back(*counters);
  }
  // A step that chooses its own launch does not say which passes were counted.
  read("counters", counters);
  if (counters && result.passes.empty()) result.pass_counters = {*counters};
  if (json.contains("ranks")) read("ranks", result.shared.emplace().ranks);
  if (json.contains("variant")) read("variant", result.variant);
  if (json.contains("other_variants")) read("other_variants", result.other_variants);
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

void __emulated::to_json(nlohmann::ordered_json& json, const Counters& counters) {
  reduction::counter_keys(reduction::KeyWriter{json}, counters);
}

void __emulated::from_json(const nlohmann::ordered_json& json, Counters& counters) {
  reduction::counter_keys(reduction::KeyReader{json}, counters);
}
