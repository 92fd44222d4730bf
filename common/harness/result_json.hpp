#pragma once
/// \file
/// The schema of a result: the keys of the steps' --json files, which the README of common/ lists, and how each is
/// written and read back. nlohmann_json calls these functions: Json(result), json.get<Result>().

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "harness/result.hpp"

// Null where there is nothing. Doxygen does not know the namespace of the library.
/// \cond
template <typename T> struct nlohmann::adl_serializer<std::optional<T>> {
  template <typename Json> static void to_json(Json& json, const std::optional<T>& value) {
    if (value) {
      json = *value;
    } else {
      json = nullptr;
    }
  }
  template <typename Json> static void from_json(const Json& json, std::optional<T>& value) {
    value = json.is_null() ? std::nullopt : std::optional(json.template get<T>());
  }
};
/// \endcond

namespace __emulated {
void to_json(nlohmann::ordered_json& json, const Counters& counters);
void from_json(const nlohmann::ordered_json& json, Counters& counters);
}  // namespace __emulated

namespace reduction {

void to_json(nlohmann::ordered_json& json, const DeviceInfo& device);
void from_json(const nlohmann::ordered_json& json, DeviceInfo& device);
void to_json(nlohmann::ordered_json& json, const Summary& ms);
void from_json(const nlohmann::ordered_json& json, Summary& ms);
void to_json(nlohmann::ordered_json& json, const TimingMethod& timing);
void from_json(const nlohmann::ordered_json& json, TimingMethod& timing);
void to_json(nlohmann::ordered_json& json, const Pass& pass);
void from_json(const nlohmann::ordered_json& json, Pass& pass);

/// Its type is not in its JSON: from_json() reads a value of the type that it has.
void to_json(nlohmann::ordered_json& json, const Value& value);
void from_json(const nlohmann::ordered_json& json, Value& value);

/// What follows from other keys, such as gbps, is written only.
void to_json(nlohmann::ordered_json& json, const Result& result);
void from_json(const nlohmann::ordered_json& json, Result& result);

/// Returns the text of the --json file: a result, or the list of a sweep's.
std::string json_text(const Result& result);
std::string json_text(const std::vector<Result>& results);

/// Reads the --json file of a step: one result, or the list of a sweep's. Throws UsageError, with the file and the key,
/// for anything else. \param documents  to which the results are appended as they are.
std::vector<Result> read_results(const std::string& file, nlohmann::ordered_json& documents);

/// Reads what a run is compared with. Throws UsageError if its file is none of a step, or, but for a run that is a sweep
/// and compares nothing, if it is a sweep's or of another type.
Result read_compared_result(const std::string& file, ElementType type, bool in_sweep);

}  // namespace reduction
