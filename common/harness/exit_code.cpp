#include "harness/exit_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <utility>
#include <vector>

#include "emulated/findings/diagnostic.hpp"
#include "emulated/findings/finding.hpp"
#include "harness/memory.hpp"
#include "harness/options.hpp"
#include "harness/terminal.hpp"

namespace reduction {

namespace {

int stdout_error = 0;  // of the first write that failed
std::vector<std::string> lost_output;
volatile std::sig_atomic_t asked_to_stop = 0;

/// Does only what a signal handler may do.
void ask_to_stop(int signal) {
  constexpr std::string_view note = "\nstopping after this result; Ctrl-C once more stops at once\n";
  std::signal(signal, SIG_DFL);
  asked_to_stop = 1;
  // There is nobody to tell when stderr does not take it.
  [[maybe_unused]] const auto written = write(STDERR_FILENO, note.data(), note.size());
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_control = std::iscntrl(static_cast<unsigned char>(c)) != 0;
    line += is_control ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return line;
}

int exit_code_of(std::string_view name, const std::function<ExitCode()>& body) {
  prepare_standard_streams();
  const Terminal terminal = terminal_of(stderr);
  const std::string label = error_label(name, terminal);
  const auto say = [&](std::string_view what) { print(stderr, paragraph(label + one_line(what), terminal)); };
  ExitCode code = ExitCode::device_fault;
  try {
    code = body();
  } catch (const UsageError& error) {
    code = ExitCode::bad_usage;
    say(error.what());
  } catch (const __emulated::KernelFinding& finding) {
    code = ExitCode::wrong_result;
    print(stderr, label + __emulated::diagnostic_of(finding.findings(), terminal.styled));
  } catch (const MeasurementError& error) {
    code = ExitCode::wrong_result;
    say(error.what());
  } catch (const std::bad_alloc&) {
    say("out of memory: " + to_string(host_memory()));
  } catch (const std::exception& error) {
    say(error.what());
  }
  if (!lost_output.empty()) {
    say(fmt::format("{}", fmt::join(std::exchange(lost_output, {}), "; ")));
    if (code == ExitCode::verified) code = ExitCode::device_fault;
  }
  return static_cast<int>(code);
}

void prepare_standard_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) == -1)
      open("/dev/full", O_RDWR);  // the lowest one that is free, which is this one
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool print(std::FILE* stream, std::string_view text) {
  const bool printed =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (!printed && stream == stdout && stdout_error == 0) {
    stdout_error = errno;
    note_lost_output(stdout_error, "stdout does not take the output");
  }
  return printed;
}

void note_lost_output(int error, const std::string& text) {
  if (error != EPIPE) lost_output.push_back(text);
}

bool stdout_reader_left() { return stdout_error == EPIPE; }

Interruption::Interruption() {
  asked_to_stop = 0;
  previous_handler_ = std::signal(SIGINT, ask_to_stop);
  // A background job of a shell ignores Ctrl-C, and so it stays.
  if (previous_handler_ == SIG_IGN) std::signal(SIGINT, SIG_IGN);
}

Interruption::~Interruption() { std::signal(SIGINT, previous_handler_); }

bool Interruption::requested() const { return asked_to_stop != 0; }

}  // namespace reduction
