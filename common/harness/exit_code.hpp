#pragma once

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace reduction {

/// What every executable returns to the shell.
enum class ExitCode { verified = 0, wrong_result = 1, bad_usage = 2, device_fault = 3, interrupted = 130 };

/// A measurement that cannot be true, such as a bandwidth above the device's peak.
struct MeasurementError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Shows control characters as escapes: whatever name a file has, a message is one line.
std::string one_line(std::string_view text);

/// Readies the standard streams, runs `body` and turns what it throws into one line on stderr, "name:
/// error: ...", and its exit code: UsageError 2; a kernel's fault on the emulated device or a MeasurementError 1;
/// anything else 3. Lost output is told in one line, and makes 3 of a verified result: no other verdict changes.
int exit_code_of(std::string_view name, const std::function<ExitCode()>& body);

/// Readies stdin, stdout and stderr for a program whose exit code is its verdict. Opens one that is closed, as a shell's
/// `>&-` leaves it: else the next file that the program opens would get its output. A write fails, and does not end the
/// program, where the reader has left or the file may not grow.
void prepare_standard_streams();

/// Prints to stdout or stderr, at once. What stdout does not take is noted as lost. Says whether all of it was taken.
bool print(std::FILE* stream, std::string_view text);

/// Notes that output is lost, for exit_code_of() to tell at the end: nothing is thrown, because the verdict of the run
/// counts for more. A reader who has left (EPIPE) has what he wanted: that is not noted.
/// \param text  the line that says so.
void note_lost_output(int error, const std::string& text);

/// Says whether whoever has read stdout has left.
bool stdout_reader_left();

/// While one lives, the first Ctrl-C only asks to stop after the current result, and says so on stderr; a second one
/// ends the program at once. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool requested() const;

 private:
  void (*previous_handler_)(int);
};

}  // namespace reduction
