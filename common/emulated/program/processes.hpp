#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace emulated_program {

/// From now on a signal that would end this process ends only its children, which are waited for.
void heed_signals();
/// Returns the last one, or 0.
int signal_that_came();

/// A folder that goes with this object.
class TemporaryFolder {
 public:
  TemporaryFolder();  ///< throws std::runtime_error
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A program with its arguments.
struct Command {
  std::vector<std::string> words;
  std::filesystem::path errors{};  ///< in place of stderr
  std::filesystem::path output{};  ///< in place of stdout
  bool may_fail = false;
};

/// Runs commands side by side, as many as there are CPUs. Says whether all have succeeded.
bool run_all(const std::vector<Command>& commands);

/// A run of a program that was built.
struct Run {
  std::filesystem::path program;
  std::string name;  ///< as which it is called
  std::vector<std::string> arguments;
  std::vector<std::string> settings;  ///< of the session (settings.hpp)
  std::filesystem::path input{};      ///< in place of stdin
  std::filesystem::path output{};     ///< in place of stdout
};

/// Returns the program's exit code, or 128 and the number of the signal that has ended it.
int run(const Run& run);

}  // namespace emulated_program
