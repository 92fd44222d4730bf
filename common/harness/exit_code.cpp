#include "harness/exit_code.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <new>

#include "device/emulated/device.hpp"
#include "harness/measurement_error.hpp"
#include "harness/options.hpp"

namespace reduction {

int exit_code_of(std::string_view name, const std::function<ExitCode()>& body) {
  const auto fail = [&](ExitCode code, std::string_view what) {
    std::fflush(stdout);
    fmt::print(stderr, "{}: error: {}\n", name, what);
    return static_cast<int>(code);
  };
  try {
    return static_cast<int>(body());
  } catch (const UsageError& error) {
    return fail(ExitCode::bad_usage, error.what());
  } catch (const emulated::KernelFinding& finding) {
    return fail(ExitCode::wrong_result, finding.what());
  } catch (const MeasurementError& error) {
    return fail(ExitCode::wrong_result, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::device_fault, "the host is out of memory");
  } catch (const std::exception& error) {
    return fail(ExitCode::device_fault, error.what());
  }
}

}  // namespace reduction
