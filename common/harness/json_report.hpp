#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/result.hpp"

namespace reduction {

/// Returns a result under the keys that the README of common/ lists.
nlohmann::ordered_json to_json(const Result& result);

}  // namespace reduction
