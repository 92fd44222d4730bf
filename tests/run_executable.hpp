#pragma once

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace reduction {

/// What a command left behind.
struct Outcome {
  int exit_code;
  std::string out;
  std::string error;
};

/// Runs a shell command to its end.
inline Outcome run_command(const std::string& command) {
  std::string error_file = "/tmp/reduction_test_stderr_XXXXXX";
  const int descriptor = mkstemp(error_file.data());
  if (descriptor < 0) throw std::runtime_error("no temporary file");
  close(descriptor);
  FILE* const pipe = popen((command + " 2>" + error_file).c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string out;
  std::array<char, 4096> buffer;
  for (std::size_t read; (read = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    out.append(buffer.data(), read);
  const int status = pclose(pipe);
  std::ostringstream error;
  error << std::ifstream(error_file).rdbuf();
  unlink(error_file.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out, error.str()};
}

/// Runs a step of this build: its executable lies beside the test's.
inline Outcome run_step_executable(const std::string& step, const std::string& arguments) {
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return run_command(fmt::format("'{}' {}", (folder / step).string(), arguments));
}

/// Whether a step gave up for want of memory, found when it planned its buffers or, as others take some too, later.
inline bool lacks_memory(const Outcome& outcome) {
  const auto says = [&](const char* text) { return outcome.error.find(text) != std::string::npos; };
  return outcome.exit_code == 3 && (says("choose fewer elements") || says("out of memory"));
}

}  // namespace reduction
