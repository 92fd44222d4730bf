#include "harness/exit_code.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <new>
#include <stdexcept>
#include <string>

#include "device/device_error.hpp"
#include "emulated/findings/finding.hpp"
#include "harness/options.hpp"

namespace reduction {
namespace {

/// The exit code of a program that ends with `failure`. It has to say so on stderr.
template <typename Failure> int code_of(const Failure& failure) {
  testing::internal::CaptureStderr();
  const int code = exit_code_of("step", [&]() -> ExitCode { throw failure; });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("step: error: "), 0u) << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
  return code;
}

TEST(ExitCodeOf, SaysWhatHasFailed) {
  __emulated::Finding race{};
  race.kernel = "reduce";
  race.witnesses = {{{3}, 0, "writes"}};
  EXPECT_EQ(code_of(__emulated::KernelFinding({race})), 1);
  EXPECT_EQ(code_of(MeasurementError("faster than the peak")), 1);
  EXPECT_EQ(code_of(UsageError("no such\noption")), 2);
  EXPECT_EQ(code_of(DeviceError("no device")), 3);
  EXPECT_EQ(code_of(std::bad_alloc()), 3);
  EXPECT_EQ(code_of(std::runtime_error("anything else")), 3);
}

TEST(Interruption, AsksForAnEndAndGivesTheSignalBack) {
  std::signal(SIGINT, SIG_DFL);
  testing::internal::CaptureStderr();
  {
    const Interruption interruption;
    EXPECT_FALSE(interruption.requested());
    std::raise(SIGINT);
    EXPECT_TRUE(interruption.requested());
    // The second one ends the program.
    EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_DFL);
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("Ctrl-C once more"), std::string::npos);
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_DFL);
}

/// As a shell leaves it to a job in the background of a script.
TEST(Interruption, LeavesASignalIgnoredThatIsIgnored) {
  std::signal(SIGINT, SIG_IGN);
  {
    const Interruption interruption;
    std::raise(SIGINT);
    EXPECT_FALSE(interruption.requested());
  }
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_IGN);
}

}  // namespace
}  // namespace reduction
