#pragma once

#include <functional>
#include <stdexcept>
#include <string_view>

namespace reduction {

/// What every executable returns to the shell.
enum class ExitCode { verified = 0, wrong_result = 1, bad_usage = 2, device_fault = 3, interrupted = 130 };

/// A measurement that cannot be true, such as a bandwidth above the device's peak.
struct MeasurementError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Readies the standard streams, runs `body` and turns what it throws into one line on stderr, "name:
/// error: ...", and its exit code: UsageError 2; a kernel's fault on the emulated device or a MeasurementError 1;
/// anything else 3. A verified result that stdout has not taken is 3, too.
int exit_code_of(std::string_view name, const std::function<ExitCode()>& body);

}  // namespace reduction
