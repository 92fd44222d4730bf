#include "emulated/program/processes.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <thread>

#include "emulated/program/settings.hpp"

namespace emulated_program {
namespace {

volatile sig_atomic_t running_child = 0;  ///< the one that runs alone, or 0
volatile sig_atomic_t last_signal = 0;

/// A terminal sends its signals to the children, too; others it is for this process to pass on.
extern "C" void heed(int signal) {
  last_signal = signal;
  if (running_child > 0 && signal != SIGINT && signal != SIGQUIT) kill(running_child, signal);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What a process has in place of this one's files.
class Files {
 public:
  Files() { posix_spawn_file_actions_init(&actions_); }
  ~Files() { posix_spawn_file_actions_destroy(&actions_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  void replace(int number, const std::filesystem::path& path, int flags) {
    constexpr mode_t mode = 0600;
    if (!path.empty()) posix_spawn_file_actions_addopen(&actions_, number, path.c_str(), flags, mode);
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

pid_t start(const std::string& program, std::vector<std::string> words, std::vector<std::string> environment,
            const Files& files) {
  for (char** variable = environ; *variable != nullptr; ++variable)
    environment.emplace_back(*variable);
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), files.actions(), nullptr, pointers_to(words).data(),
                                 pointers_to(environment).data());
  if (error != 0) throw std::runtime_error{program + ": error: cannot be run: " + std::strerror(error)};
  return child;
}

int exit_code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

void heed_signals() {
  struct sigaction action {};
  action.sa_handler = heed;
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

int signal_that_came() { return last_signal; }

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error)
    throw std::runtime_error{"emulate: error: there is no folder for temporary files: set TMPDIR to one"};
  std::string name = (parent / "emulate.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::runtime_error{name + ": error: cannot be made: " + std::strerror(errno)};
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

bool run_all(const std::vector<Command>& commands) {
  const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
  bool succeeded = true;
  for (std::size_t first = 0; first < commands.size(); first += most) {
    std::vector<std::pair<pid_t, bool>> children;
    for (std::size_t i = first; i < std::min(first + most, commands.size()); ++i) {
      const Command& command = commands[i];
      Files files;
      files.replace(STDERR_FILENO, command.errors, O_WRONLY | O_CREAT | O_TRUNC);
      files.replace(STDOUT_FILENO, command.output, O_WRONLY | O_CREAT | O_TRUNC);
      children.emplace_back(start(command.words.front(), command.words, {}, files), command.may_fail);
    }
    for (const auto& [child, may_fail] : children)
      succeeded = (wait_for(child) == 0 || may_fail) && succeeded;
  }
  return succeeded;
}

int run(const Run& run) {
  std::vector<std::string> words{run.name};
  words.insert(words.end(), run.arguments.begin(), run.arguments.end());
  Files files;
  files.replace(STDIN_FILENO, run.input, O_RDONLY);
  files.replace(STDOUT_FILENO, run.output, O_WRONLY);
  const pid_t child = start(run.program, words, {environment_of(run.settings)}, files);
  running_child = child;
  const int status = wait_for(child);
  running_child = 0;
  if (WIFSIGNALED(status) && last_signal == 0)
    std::cerr << run.name << ": note: ended by a signal: " << strsignal(WTERMSIG(status)) << '\n';
  return exit_code_of(status);
}

}  // namespace emulated_program
