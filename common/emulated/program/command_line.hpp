#pragma once
#include <stdexcept>
#include <string>
#include <vector>

namespace emulated_program {

/// What is wrong with a command line, in one line of text.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What `./emulate` is to do. Files, folders and libraries are as the user has written them.
struct CommandLine {
  std::vector<std::string> sources;          ///< .cu and C++
  std::vector<std::string> include_folders;  ///< of -I, which are searched for headers with kernels, too
  std::vector<std::string> compile;    ///< for all files: -I, -D, -U, …, as the host's compiler takes them
  std::vector<std::string> optimise;   ///< for files without kernels: -O
  std::vector<std::string> link;       ///< objects, -l, -L, in their order
  std::string standard;                ///< of -std=, such as "c++17"; "" if it is not given
  std::string output;                  ///< of -o: the program is left there, and not run
  bool relaxed_constexpr = false;      ///< by --expt-relaxed-constexpr
  unsigned architecture = 0;           ///< of -arch=sm_80: 800; 0 if none is named
  std::string dependencies;            ///< of -MF: a file for make, which says what the program is made of
  std::vector<std::string> settings;   ///< ours for the run, such as "quiet" and "json=FILE"
  std::vector<std::string> arguments;  ///< the program's own
  unsigned schedules = 1;              ///< number of runs, each in an order of its own
  bool help = false;
  bool version = false;
};

/// Reads what is behind the command's name. Takes the options that people pass to nvcc. Throws UsageError.
CommandLine read_command_line(const std::vector<std::string>& words);

/// The text of --help.
extern const char* const help_text;

}  // namespace emulated_program
