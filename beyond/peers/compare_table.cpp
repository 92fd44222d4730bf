/// \file
/// Puts the --json files of steps and peers into one Markdown table for each element type.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/options.hpp"
#include "harness/output_file.hpp"
#include "harness/text_options.hpp"
#include "peer_tables.hpp"

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

reduction::ExitCode run(const std::vector<std::string>& files, const std::string& json_file) {
  const Results results = read_results(files);
  fmt::print("GB/s (share of CUB's):\n");
  for (const std::string& type : reduction::types_of(results))
    fmt::print("\n{}", reduction::peer_table(results, type));
  reduction::OutputFile(json_file).write(Json(results).dump(2) + '\n');
  const bool verified = std::all_of(results.begin(), results.end(),
                                    [](const Json& result) { return result.at("verified").get<bool>(); });
  return verified ? reduction::ExitCode::verified : reduction::ExitCode::wrong_result;
}

}  // namespace

int main(int argc, char** argv) {
  return reduction::exit_code_of("compare_table", [&] {
    reduction::TextOptions app(
        "compare_table",
        "Puts the --json files of steps and peers into one Markdown table for each element type.");
    std::vector<std::string> files;
    std::string json_file;
    app.add_arguments("files", "the --json files; the rows are in their order", files);
    app.add("--json", "FILE", "also write all results to this file, as one list",
            [&](const std::string& text) { json_file = text; });
    const std::string answer = app.read(argc, argv);
    if (!answer.empty()) {
      fmt::print("{}", answer);
      return reduction::ExitCode::verified;
    }
    return run(files, json_file);
  });
}
