/// \file
/// Puts the --json files of the steps, given in step order, into tables: run_ladder.sh ends with them.

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/ladder_text.hpp"
#include "harness/options.hpp"
#include "harness/result_json.hpp"
#include "harness/text_file.hpp"

namespace reduction {

namespace {

/// Says whether every result is right.
ExitCode run(int argc, char** argv) {
  OptionParser app("ladder_table",
                   "Puts the --json files of the steps into a table, below what others have published.");
  std::vector<std::string> files;
  std::string json_file;
  app.add_arguments("files", "the steps' --json files, in step order", files);
  app.add_file("--json", "also write all results there, as one list; - for stdout", json_file);
  const std::string answer = app.read(argc, argv);
  if (!answer.empty()) {
    print(stdout, answer);
    return ExitCode::verified;
  }
  const OutputFile json(json_file);
  std::FILE* const out = json.is_stdout() ? stderr : stdout;
  std::vector<Result> results;
  auto documents = nlohmann::ordered_json::array();
  for (const std::string& file : files) {
    const std::vector<Result> read = read_results(file, documents);
    results.insert(results.end(), read.begin(), read.end());
  }
  // The file comes first: whoever reads the tables may stop this program.
  json.write(documents.dump(2) + '\n');
  print(out, ladder_text(results, terminal_of(out)));
  const bool verified = std::ranges::all_of(results, &Result::verified);
  return verified ? ExitCode::verified : ExitCode::wrong_result;
}

}  // namespace

}  // namespace reduction

int main(int argc, char** argv) {
  return reduction::exit_code_of("ladder_table", [&] { return reduction::run(argc, argv); });
}
