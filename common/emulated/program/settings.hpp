#pragma once
#include <string>
#include <vector>

namespace emulated_program {

/// How a program runs: what `./emulate` tells it by a variable of its environment.
struct Settings {
  bool quiet = false;
  bool counters = true;
  bool stop = false;
  unsigned limit = 0;  ///< seconds; 0: none
  std::string json;    ///< a file, or ""
  std::string trace;   ///< what is traced, as --trace takes it, or ""
  /// A file that gets what is to be traced in another run, where there is a finding: nothing if this run has traced it. ""
  /// where there will be no other.
  std::string to_trace;
  std::string seen;    ///< a file with findings of earlier runs, to which this one adds its own
  unsigned order = 0;  ///< of threads and blocks: 0 ascending, 1 descending, then random ones
};

/// The variable.
inline constexpr const char* settings_variable = "EMULATE";

/// "EMULATE=…" of settings such as "quiet" and "json=FILE".
std::string environment_of(const std::vector<std::string>& settings);

/// Reads that variable. One that is not there, as for a program made by -o, stands for no setting.
Settings settings_of_environment();

}  // namespace emulated_program
