#include "harness/exit_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "device/emulated/diagnostic.hpp"
#include "device/emulated/finding.hpp"
#include "harness/host_memory.hpp"
#include "harness/options.hpp"
#include "harness/standard_streams.hpp"
#include "harness/terminal.hpp"

namespace reduction {

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      line += c;
    }
  }
  return line;
}

int exit_code_of(std::string_view name, const std::function<ExitCode()>& body) {
  const auto say = [&](std::string_view what) { print(stderr, fmt::format("{}: error: {}\n", name, what)); };
  const auto end = [&](ExitCode code) {
    const auto lost = take_lost_output();
    if (lost.empty()) return static_cast<int>(code);
    say(one_line(fmt::format("{}", fmt::join(lost, "; "))));
    if (code == ExitCode::verified) code = ExitCode::device_fault;
    return static_cast<int>(code);
  };
  const auto fail = [&](ExitCode code, std::string_view what) {
    say(one_line(what));
    return end(code);
  };
  prepare_standard_streams();
  try {
    return end(body());
  } catch (const UsageError& error) {
    return fail(ExitCode::bad_usage, error.what());
  } catch (const emulated::KernelFinding& finding) {
    std::string text = emulated::diagnostic_of(finding.findings(), terminal_of(stderr).styled);
    text.pop_back();  // the newline
    say(text);
    return end(ExitCode::wrong_result);
  } catch (const MeasurementError& error) {
    return fail(ExitCode::wrong_result, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::device_fault, "the host is out of memory: " + host_memory_text());
  } catch (const std::exception& error) {
    return fail(ExitCode::device_fault, error.what());
  }
}

}  // namespace reduction
