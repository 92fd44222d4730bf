/// \file
/// measure() on a device whose times and results a test decides.

#include "harness/measure.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "fake_device.hpp"
#include "harness/exit_code.hpp"
#include "harness/input.hpp"
#include "harness/report.hpp"

namespace reduction {
namespace {

int launches = 0;
int last_right_launch = 0;  ///< later ones leave the output alone

/// One block that sums everything, on the host.
void launch_sum(unsigned, unsigned, const void* in, void* out, std::size_t n) {
  if (++launches > last_right_launch) return;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += static_cast<const std::uint32_t*>(in)[i];
  std::memcpy(out, &sum, sizeof(sum));
}

/// Measures as many samples as the device has times, without warm-up.
Result measure_on(FakeDevice& device, const StepKernel& kernel, std::uint64_t n, Options options) {
  options.samples = device.sample_ms.size();
  options.timing.warm_up_runs = 0;
  const ReductionPlan plan = plan_reduction(kernel, {ElementType::int32, n, 32}, device.info());
  return measure({"fake", "a sum", nullptr, nullptr}, device, plan, options);
}

Result measure_ones(FakeDevice& device, std::uint64_t n, int right_launches, bool chooses_launch = false,
                    Flush flush = Flush::read) {
  launches = 0;
  last_right_launch = right_launches;
  Options options;
  options.data = Data::ones;
  options.timing.flush = flush;
  const StepKernel kernel{
      [](std::size_t, unsigned) { return std::size_t{1}; }, launch_sum, {.chooses_launch = chooses_launch}};
  return measure_on(device, kernel, n, options);
}

TEST(Measure, ReportsTheMedianAndTheBandwidth) {
  FakeDevice device;
  const Result result = measure_ones(device, 100'000, 100);
  EXPECT_EQ(result.title, "a sum");
  EXPECT_TRUE(result.verified());
  ASSERT_TRUE(result.ms);
  EXPECT_DOUBLE_EQ(result.ms->median, 2.0);
  EXPECT_EQ(result.samples, 3u);
  EXPECT_TRUE(result.first_run_ms);
  EXPECT_DOUBLE_EQ(*result.gbps(), 100'000 * 4 / 2.0 / 1e6);
  EXPECT_DOUBLE_EQ(*result.percent_of_peak(), 0.2);
}

TEST(Measure, ReportsTheMeanOfReductionsBackToBack) {
  FakeDevice device;
  launches = 0;
  last_right_launch = 100;
  Options options;
  options.timing.back_to_back = 10;
  const StepKernel kernel{[](std::size_t, unsigned) { return std::size_t{1}; }, launch_sum};
  EXPECT_DOUBLE_EQ(measure_on(device, kernel, 1000, options).ms->median, 0.2);
  EXPECT_EQ(launches, 31);
}

TEST(Measure, VerifiesWhatTheLastSampleLeft) {
  FakeDevice device;
  // One run before the samples and three of them: the last one writes nothing.
  EXPECT_TRUE(measure_ones(device, 1000, 4).verified());
  EXPECT_FALSE(measure_ones(device, 1000, 3).verified());
}

TEST(Measure, KnowsNoBlocksOfAStepThatChoosesThem) {
  FakeDevice device;
  const Result result = measure_ones(device, 1000, 100, true);
  EXPECT_TRUE(result.verified());
  EXPECT_EQ(result.block, 0u);
  EXPECT_TRUE(result.passes.empty());
  EXPECT_EQ(measure_ones(device, 1000, 100).block, 32u);
}

TEST(Measure, QueuesNoSampleOfAKernelThatWaits) {
  FakeDevice device;
  const auto is_queued = [&](bool waits) {
    launches = 0;
    last_right_launch = 100;
    StepKernel kernel{[](std::size_t, unsigned) { return std::size_t{1}; }, launch_sum};
    kernel.traits.waits_for_result = waits;
    const Result result = measure_on(device, kernel, 100, Options{});
    EXPECT_EQ(result.timing->queued, device.queued);
    return device.queued;
  };
  EXPECT_TRUE(is_queued(false));
  EXPECT_FALSE(is_queued(true));
}

TEST(Measure, SaysWhereADeviceDoesNotWaitForTheQueue) {
  FakeDevice device;
  EXPECT_TRUE(measure_ones(device, 1000, 100).timing_remark.empty());
  device.unqueued = 1;
  EXPECT_TRUE(measure_ones(device, 1000, 100).timing->queued) << "the host was busy once";
  device.unqueued = 2;
  const Result result = measure_ones(device, 1000, 100);
  EXPECT_FALSE(result.timing->queued) << "no sample of a queue that there was not";
  EXPECT_EQ(result.samples, 3u);
  EXPECT_NE(result.timing_remark.find("CUDA_LAUNCH_BLOCKING"), std::string::npos) << result.timing_remark;
}

TEST(Measure, TakesNoTimeOfAWrongResult) {
  FakeDevice device;
  const Result result = measure_ones(device, 1000, 0);
  EXPECT_FALSE(result.verified());
  EXPECT_FALSE(result.ms);
}

TEST(Measure, RefusesMoreThanThePeak) {
  FakeDevice device;
  device.sample_ms = {0.001};
  EXPECT_THROW(measure_ones(device, 100'000, 100), MeasurementError);
}

TEST(Measure, TakesMoreThanThePeakFromACacheThatIsNotEmptied) {
  FakeDevice device;
  device.sample_ms = {0.001};
  EXPECT_GT(*measure_ones(device, 100'000, 100, false, Flush::none).percent_of_peak(), 100);
}

/// What a report prints of a result.
std::string printed(const Result& result) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Options options;
  options.quiet = true;
  Report report(options);
  report.add(result);
  const ExitCode code = report.finish();
  EXPECT_EQ(code, result.verified() ? ExitCode::verified : ExitCode::wrong_result);
  return testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
}

TEST(Report, SaysYesOrNoUnderVerified) {
  FakeDevice device;
  EXPECT_NE(printed(measure_ones(device, 1000, 100)).find("| 0.0 | yes |\n"), std::string::npos);
  const std::string wrong = printed(measure_ones(device, 1000, 0));
  EXPECT_NE(wrong.find("| fake | int32 | 1000 | 32 | – | – | – | – | **NO** |\n"), std::string::npos)
      << wrong;
  EXPECT_NE(wrong.find("fake: error: WRONG: -1, expected 1000; the error 1001"), std::string::npos) << wrong;
}

TEST(Report, ASweepIsWrongWhichRowOfItIs) {
  FakeDevice device;
  for (const int wrong_row : {0, 1, 2}) {
    Options options;
    options.sweep = Sweep::size;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Report report(options);
    for (int row = 0; row < 3; ++row)
      report.add(measure_ones(device, 1000, row == wrong_row ? 0 : 100));
    EXPECT_EQ(report.finish(), ExitCode::wrong_result) << wrong_row;
    testing::internal::GetCapturedStdout();
    testing::internal::GetCapturedStderr();
  }
}

TEST(Report, KeepsWhatASweepHasWhateverEndsIt) {
  FakeDevice device;
  Options options;
  options.sweep = Sweep::size;
  options.json_file = "-";
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    Report report(options);
    report.add(measure_ones(device, 1000, 100));
    throw DeviceError("a later size");
  } catch (const DeviceError&) {
  }
  testing::internal::GetCapturedStderr();
  EXPECT_NE(testing::internal::GetCapturedStdout().find("\"elements\": 1000"), std::string::npos);
}

}  // namespace
}  // namespace reduction
