#pragma once

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

}  // namespace reduction
