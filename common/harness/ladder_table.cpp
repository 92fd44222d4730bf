/// \file
/// Puts the --json files of the steps, given in step order, into one Markdown table. run_ladder.sh ends with it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/json_report.hpp"
#include "harness/options.hpp"

namespace {

using Json = nlohmann::ordered_json;

Json read_result(const std::string& file) {
  std::ifstream stream(file);
  if (!stream)
    throw reduction::UsageError(fmt::format("'{}' cannot be read; give the --json files of the steps", file));
  try {
    return Json::parse(stream);
  } catch (const Json::parse_error& error) {
    throw reduction::UsageError(fmt::format("'{}' is no JSON file of a step: {}", file, error.what()));
  }
}

std::optional<double> number(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<double> median_ms(const Json& result) {
  return result.at("ms").is_object() ? number(result.at("ms").at("median")) : std::nullopt;
}

std::string or_dash(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "–";
}

/// How many times faster `result` is than `before`.
std::string speed_up(const Json* before, const Json& result) {
  if (before == nullptr || !median_ms(*before) || !median_ms(result)) return "–";
  return fmt::format("{:.2f}", *median_ms(*before) / *median_ms(result));
}

std::string verified(const Json& result) { return result.at("verified").get<bool>() ? "yes" : "**NO**"; }

void print_timed(const std::vector<Json>& results) {
  fmt::print(
      "| step | ms | GB/s | % of peak | × previous | × 01 | verified |\n|:--|--:|--:|--:|--:|--:|:--|\n");
  const Json* previous = nullptr;
  const Json* first = nullptr;
  for (const Json& result : results) {
    const auto step = result.at("step").get<std::string>();
    if (step.starts_with("01")) first = &result;
    fmt::print("| {} | {} | {} | {} | {} | {} | {} |\n", step, or_dash(median_ms(result), "{:.4f}"),
               or_dash(number(result.at("gbps")), "{:.1f}"),
               or_dash(number(result.at("percent_of_peak")), "{:.1f}"), speed_up(previous, result),
               speed_up(first, result), verified(result));
    previous = &result;
  }
}

/// A counter of a run on the emulated device: the sum of those whose names are given.
double count(const Json& result, const std::vector<const char*>& names) {
  double sum = 0;
  for (const char* name : names)
    sum += result.at("counters").at(name).get<double>();
  return sum;
}

void print_emulated(const std::vector<Json>& results) {
  fmt::print(
      "| step | passes | blocks | block barriers a block | shared requests a block | lanes a request | "
      "wavefronts a "
      "block | wavefronts an element | verified |\n|:--|--:|--:|--:|--:|--:|--:|--:|:--|\n");
  for (const Json& result : results) {
    const auto step = result.at("step").get<std::string>();
    const Json& passes = result.at("passes");
    std::uint64_t blocks = 0;
    for (const Json& pass : passes)
      blocks += pass.at("blocks").get<std::uint64_t>();
    if (result.at("counters").is_null()) {
      fmt::print("| {} | {} | {} | – | – | – | – | – | {} |\n", step,
                 passes.empty() ? "–" : fmt::to_string(passes.size()),
                 passes.empty() ? "–" : fmt::to_string(blocks), verified(result));
      continue;
    }
    const double requests = count(result, {"shared_load_requests", "shared_store_requests"});
    const double wavefronts = count(result, {"shared_load_wavefronts", "shared_store_wavefronts"});
    const double lanes = count(result, {"shared_load_lanes", "shared_store_lanes"});
    const auto blocks_counted = static_cast<double>(blocks);
    const double elements = std::max(1.0, result.at("elements").get<double>());
    fmt::print("| {} | {} | {} | {:.4g} | {:.4g} | {:.2f} | {:.4g} | {:.4f} | {} |\n", step, passes.size(),
               blocks, count(result, {"block_barriers"}) / blocks_counted, requests / blocks_counted,
               requests > 0 ? lanes / requests : 0.0, wavefronts / blocks_counted, wavefronts / elements,
               verified(result));
  }
}

reduction::ExitCode run(const std::vector<std::string>& files, const std::string& json_file) {
  std::vector<Json> results;
  for (const std::string& file : files) {
    const Json document = read_result(file);
    // A sweep's file is a list of results.
    if (document.is_array()) {
      results.insert(results.end(), document.begin(), document.end());
    } else {
      results.push_back(document);
    }
  }
  reduction::JsonFile json(json_file);
  json.write(Json(results));
  const bool emulated = std::any_of(results.begin(), results.end(), [](const Json& result) {
    return result.at("device").at("kind") == "emulated";
  });
  emulated ? print_emulated(results) : print_timed(results);
  const bool all_verified = std::all_of(results.begin(), results.end(),
                                        [](const Json& result) { return result.at("verified").get<bool>(); });
  return all_verified ? reduction::ExitCode::verified : reduction::ExitCode::wrong_result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Puts the --json files of the steps into one Markdown table.", "ladder_table");
  std::vector<std::string> files;
  std::string json_file;
  app.add_option("files", files, "the steps' --json files, in step order")->required();
  app.add_option("--json", json_file, "FILE: also write all results there, as one list; - for stdout");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error)
                                      : (app.exit(error), static_cast<int>(reduction::ExitCode::bad_usage));
  }
  return reduction::exit_code_of("ladder_table", [&] { return run(files, json_file); });
}
