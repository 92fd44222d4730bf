#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "harness/counter_report.hpp"
#include "harness/result.hpp"

namespace reduction {

/// Returns a result under the keys that the README of common/ lists.
nlohmann::ordered_json to_json(const Result& result);

/// Returns the text of the --json file: a result, or the list of a sweep's.
std::string json_text(const Result& result);
std::string json_text(const std::vector<Result>& results);

/// Reads what a run counted back from its --json file. Throws UsageError if it is no such file, one without counters,
/// or one of another type or block size, whose counters differ for more reasons than the step.
CountedRun read_counted_run(const std::string& json_file, ElementType type, unsigned block);

}  // namespace reduction
