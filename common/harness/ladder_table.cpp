/// \file
/// Puts the --json files of the steps, given in step order, into one Markdown table, and beside the documented figures
/// into a second one. run_ladder.sh ends with them.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/json_file.hpp"
#include "harness/ladder.hpp"
#include "harness/options.hpp"
#include "harness/text_options.hpp"

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

reduction::ExitCode run(const std::vector<std::string>& files, const std::string& json_file) {
  reduction::Results results;
  for (const std::string& file : files) {
    const Json document = read_result(file);
    // A sweep's file is a list of results.
    if (document.is_array()) {
      results.insert(results.end(), document.begin(), document.end());
    } else {
      results.push_back(document);
    }
  }
  const bool counted = std::any_of(results.begin(), results.end(), [](const Json& result) {
    return result.at("device").at("kind") == "emulated";
  });
  std::string tables = counted ? reduction::counted_ladder(results) : reduction::timed_ladder(results);
  if (reduction::same_configuration(results)) {
    tables += fmt::format("\nDocumented figures, % of each card's peak (GB/s); sources in docs/tables:\n\n{}",
                          reduction::published_ladder(results));
  }
  // Before the tables are printed, whose reader may be gone.
  reduction::JsonFile(json_file).write(Json(results));
  fmt::print(json_file == "-" ? stderr : stdout, "{}", tables);
  return std::all_of(results.begin(), results.end(), reduction::is_verified)
             ? reduction::ExitCode::verified
             : reduction::ExitCode::wrong_result;
}

}  // namespace

int main(int argc, char** argv) {
  return reduction::exit_code_of("ladder_table", [&] {
    CLI::App app("Puts the --json files of the steps into one Markdown table.", "ladder_table");
    std::vector<std::string> files;
    std::string json_file;
    app.add_option("files", files, "the steps' --json files, in step order")->required();
    app.add_option("--json", json_file, "FILE: also write all results there, as one list; - for stdout");
    const std::string answer = reduction::read_command_line(app, argc, argv);
    if (!answer.empty()) {
      fmt::print("{}", answer);
      return reduction::ExitCode::verified;
    }
    return run(files, json_file);
  });
}
