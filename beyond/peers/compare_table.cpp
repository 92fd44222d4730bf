/// \file
/// Puts the --json files of steps and peers into one Markdown table for each element type: a row a program, a column a
/// number of elements, in each cell GB/s and the share of CUB's.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/json_report.hpp"
#include "harness/options.hpp"
#include "harness/units.hpp"

namespace {

using Json = nlohmann::ordered_json;
using Results = std::vector<Json>;

Results read_results(const std::vector<std::string>& files) {
  Results results;
  for (const std::string& file : files) {
    std::ifstream stream(file);
    const Json document = Json::parse(stream, nullptr, false);
    if (document.is_discarded())
      throw reduction::UsageError(fmt::format("'{}' is no JSON file of a step or a peer", file));
    // A sweep's file is a list of results.
    if (document.is_array()) {
      results.insert(results.end(), document.begin(), document.end());
    } else {
      results.push_back(document);
    }
  }
  return results;
}

/// The values of a key, each once, in the order in which they come first.
template <typename T> std::vector<T> values_of(const Results& results, const char* key) {
  std::vector<T> values;
  for (const Json& result : results) {
    const T value = result.at(key);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

const Json* find(const Results& results, const std::string& step, const std::string& type,
                 std::uint64_t elements) {
  const auto found = std::find_if(results.begin(), results.end(), [&](const Json& result) {
    return result.at("step") == step && result.at("type") == type && result.at("elements") == elements;
  });
  return found != results.end() ? &*found : nullptr;
}

/// "3695.4 (83.5 %)"; a dash where the program was not run or has no such type.
std::string cell(const Json* result, const Json* cub) {
  if (result == nullptr) return "–";
  if (!result->at("verified").get<bool>()) return "**WRONG**";
  if (result->at("gbps").is_null()) return "not timed";
  const double gbps = result->at("gbps");
  if (cub == nullptr || cub->at("gbps").is_null()) return fmt::format("{:.1f}", gbps);
  return fmt::format("{:.1f} ({:.1f} %)", gbps, gbps / cub->at("gbps").get<double>() * 100);
}

void print_table(const Results& results, const std::string& type) {
  auto sizes = values_of<std::uint64_t>(results, "elements");
  std::sort(sizes.begin(), sizes.end());
  std::string names = fmt::format("| {} |", type);
  std::string alignments = "|:--|";
  for (const std::uint64_t elements : sizes) {
    names += fmt::format(" {} |", reduction::count_text(elements));
    alignments += "--:|";
  }
  fmt::print("{}\n{}\n", names, alignments);
  for (const std::string& step : values_of<std::string>(results, "step")) {
    std::string row = fmt::format("| {} |", step);
    for (const std::uint64_t elements : sizes) {
      const Json* const result = find(results, step, type, elements);
      row += fmt::format(" {} |", cell(result, find(results, "peer_cub", type, elements)));
    }
    fmt::print("{}\n", row);
  }
}

reduction::ExitCode run(const std::vector<std::string>& files, const std::string& json_file) {
  const Results results = read_results(files);
  fmt::print("GB/s (share of CUB's):\n");
  for (const std::string& type : values_of<std::string>(results, "type")) {
    fmt::print("\n");
    print_table(results, type);
  }
  reduction::JsonFile(json_file).write(Json(results));
  const bool verified = std::all_of(results.begin(), results.end(),
                                    [](const Json& result) { return result.at("verified").get<bool>(); });
  return verified ? reduction::ExitCode::verified : reduction::ExitCode::wrong_result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Puts the --json files of steps and peers into one Markdown table for each element type.",
               "compare_table");
  std::vector<std::string> files;
  std::string json_file;
  app.add_option("files", files, "the --json files; the rows are in their order")->required();
  app.add_option("--json", json_file, "also write all results to this file, as one list");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error)
                                      : (app.exit(error), static_cast<int>(reduction::ExitCode::bad_usage));
  }
  return reduction::exit_code_of("compare_table", [&] { return run(files, json_file); });
}
