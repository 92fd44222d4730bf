/// \file
/// ./emulate: compiles a CUDA program for the emulated device and runs it.

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "emulated/program/command_line.hpp"
#include "emulated/program/processes.hpp"
#include "emulated/program/settings.hpp"
#include "emulated/program/sources.hpp"

namespace {

using namespace emulated_program;
namespace fs = std::filesystem;

constexpr int bad_usage = 2;

/// Where the emulated device is: beside this program, in the build or as it was installed.
class Installation {
 public:
  Installation() : folder_{fs::read_symlink("/proc/self/exe").parent_path()} {}

  std::string compiler() const { return EMULATED_COMPILER; }
  /// Options in a file, as compilers take it.
  std::string options(const char* name) const { return std::string{"@"}.append(folder_ / name); }
  std::vector<fs::path> headers() const {
    std::ifstream list{folder_ / "emulate.headers"};
    std::vector<fs::path> folders;
    for (std::string line; std::getline(list, line);)
      folders.emplace_back(line);
    return folders;
  }

 private:
  fs::path folder_;
};

bool has_kernels(const fs::path& source) { return source.extension() == ".cu"; }

/// The standard to compile by: the headers of the emulated device need C++20.
std::string standard_of(const CommandLine& asked) {
  const std::string& standard = asked.standard;
  if (standard.empty()) return "gnu++20";
  const std::string year = standard.substr(standard.find_last_of('+') + 1);
  if (year >= "20" && year < "90") return standard;
  std::cerr << "emulate: note: -std=" << standard
            << ": compiled as C++20, which the emulated device's headers need\n";
  return "gnu++20";
}

std::vector<Command> compile_commands(const CommandLine& asked, const Installation& installed,
                                      const fs::path& folder, std::vector<std::string>& objects) {
  Sources sources{folder / "sources", asked.include_folders, installed.headers()};
  const std::string standard = standard_of(asked);
  std::vector<Command> commands;
  for (const std::string& source : asked.sources) {
    objects.push_back((folder / (std::to_string(objects.size()) + ".o")).string());
    Command command{installed.compiler()};
    const auto add = [&](std::initializer_list<std::string> words) { command.insert(command.end(), words); };
    const bool rewrite = has_kernels(source);
    if (fs::path{source}.extension() != ".c") add({"-std=" + standard});
    if (rewrite) {
      add({installed.options("emulate.kernels"), "-include", "cuda_runtime.h", "-iquote",
           fs::absolute(source).parent_path().string()});
    } else {
      add({"-O2"});
      command.insert(command.end(), asked.optimise.begin(), asked.optimise.end());
    }
    add({installed.options("emulate.include")});
    command.insert(command.end(), asked.compile.begin(), asked.compile.end());
    if (rewrite) add({"-x", "c++"});
    add({"-c", rewrite ? sources.rewritten(source).string() : source, "-o", objects.back()});
    commands.push_back(command);
  }
  return commands;
}

bool build(const CommandLine& asked, const fs::path& folder, const fs::path& program) {
  const Installation installed;
  std::vector<std::string> objects;
  if (!run_all(compile_commands(asked, installed, folder, objects))) return false;
  Command link{installed.compiler()};
  link.insert(link.end(), objects.begin(), objects.end());
  link.insert(link.end(), asked.link.begin(), asked.link.end());
  link.insert(link.end(), {installed.options("emulate.link"), "-o", program.string()});
  return run_all({link});
}

/// What runs again reads the same input: it is kept where it can be read once only.
fs::path input_of_all_runs(const fs::path& folder) {
  if (isatty(STDIN_FILENO) != 0) return "/dev/null";
  std::ofstream kept{folder / "input", std::ios::binary};
  if (std::cin.peek() != std::char_traits<char>::eof()) kept << std::cin.rdbuf();
  return folder / "input";
}

/// Runs the program once more in other orders of threads and blocks, for findings that the first has not had.
int run_in_orders(const CommandLine& asked, const fs::path& folder, const Run& first) {
  Run run = first;
  if (asked.schedules > 1) run.input = input_of_all_runs(folder);
  run.settings.push_back("seen=" + (folder / "seen").string());
  int code = emulated_program::run(run);
  run.output = "/dev/null";
  for (unsigned order = 1; order < asked.schedules && signal_that_came() == 0; ++order) {
    run.settings = {"quiet", "order=" + std::to_string(order), "seen=" + (folder / "seen").string()};
    std::ranges::copy_if(first.settings, std::back_inserter(run.settings), [](const std::string& each) {
      return each.starts_with("limit=") || each == "stop";
    });
    const int again = emulated_program::run(run);
    if (code == 0) code = again;
  }
  return code;
}

int emulate(const CommandLine& asked) {
  const TemporaryFolder folder;
  const fs::path program = asked.output.empty() ? folder.path() / "program" : fs::path{asked.output};
  if (!build(asked, folder.path(), program))
    return signal_that_came() != 0 ? 128 + signal_that_came() : bad_usage;
  if (!asked.output.empty()) return 0;
  const std::string name = fs::path{asked.sources.empty() ? "program" : asked.sources.front()}.stem();
  return run_in_orders(asked, folder.path(), {program, name, asked.arguments, asked.settings});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const CommandLine asked = read_command_line(std::vector<std::string>(argv + 1, argv + argc));
    if (asked.help || asked.version) {
      std::cout << (asked.help ? help_text : "emulate " EMULATED_VERSION "\n");
      return 0;
    }
    heed_signals();
    return emulate(asked);
  } catch (const UsageError& error) {
    std::cerr << "emulate: error: " << error.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
  return bad_usage;
}
