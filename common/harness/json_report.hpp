#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "harness/result.hpp"

namespace reduction {

/// Returns the parts of results under the keys that the README of common/ lists.
nlohmann::ordered_json to_json(const DeviceInfo& device);
nlohmann::ordered_json to_json(const Summary& ms);
nlohmann::ordered_json to_json(const TimingMethod& timing);
nlohmann::ordered_json to_json(const emulated::Counters& counters);

/// Returns null where there is no number.
nlohmann::ordered_json or_null(const std::optional<double>& number);

/// Returns a result under the keys that the README of common/ lists.
nlohmann::ordered_json to_json(const Result& result);

/// Returns the text of the --json file: a result, or the list of a sweep's.
std::string json_text(const Result& result);
std::string json_text(const std::vector<Result>& results);

}  // namespace reduction
