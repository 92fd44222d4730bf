#pragma once
/// \file
/// What the steps' --json files say, read back.

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/emulated/counters.hpp"
#include "harness/counter_report.hpp"
#include "harness/device.hpp"
#include "harness/element_type.hpp"

namespace reduction {

/// What tables show of a result.
struct StoredResult {
  std::string step;
  DeviceKind device = DeviceKind::cpu;
  std::string device_name;
  ElementType type = ElementType::int32;
  std::uint64_t elements = 0;
  std::optional<unsigned> block;
  std::optional<double> median_ms;
  std::optional<double> gbps;
  std::optional<double> percent_of_peak;
  bool verified = false;  ///< also the step's other ways to sum, such as the tree beside 00's running sum
  std::vector<std::uint64_t> pass_blocks;  ///< the number of blocks of each pass
  std::optional<emulated::Counters> counters;
};

/// Reads the --json file of a step: one result, or the list of a sweep's. Throws UsageError, with the file and the key,
/// for anything else. \param documents  to which the results are appended as they are.
std::vector<StoredResult> read_results(const std::string& file, nlohmann::ordered_json& documents);

/// Reads what a run counted. Throws UsageError if its file is none of one result with counters, or of another type or
/// block size, whose counters differ for more reasons than the step.
CountedRun read_counted_run(const std::string& json_file, ElementType type, unsigned block);

}  // namespace reduction
