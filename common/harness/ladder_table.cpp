/// \file
/// Puts the --json files of the steps, given in step order, into one table, and beside the documented figures into a
/// second one: in Markdown, or on a terminal aligned. run_ladder.sh ends with them.

#include <cstdio>
#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/ladder.hpp"
#include "harness/options.hpp"
#include "harness/terminal.hpp"
#include "harness/text_file.hpp"

int main(int argc, char** argv) {
  return reduction::exit_code_of("ladder_table", [&] {
    reduction::OptionParser app("ladder_table",
                                "Puts the --json files of the steps into one Markdown table.");
    std::vector<std::string> files;
    std::string json_file;
    app.add_arguments("files", "the steps' --json files, in step order", true, files);
    app.add_file("--json", "also write all results there, as one list; - for stdout", json_file);
    const std::string answer = app.read(argc, argv);
    if (!answer.empty()) {
      reduction::print(stdout, answer);
      return reduction::ExitCode::verified;
    }
    const reduction::OutputFile json(json_file);
    std::FILE* const out = json.is_stdout() ? stderr : stdout;
    const reduction::Ladder ladder = reduction::read_ladder(files, reduction::terminal_of(out));
    // The file comes first: whoever reads the tables may stop this program.
    json.write(ladder.json);
    reduction::print(out, ladder.tables);
    return ladder.verified ? reduction::ExitCode::verified : reduction::ExitCode::wrong_result;
  });
}
