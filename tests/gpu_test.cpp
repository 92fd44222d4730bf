/// \file
/// The steps on a CUDA device. Skipped where there is none.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/device.hpp"
#include "harness/options.hpp"
#include "programs_that_need.hpp"
#include "run_executable.hpp"

namespace reduction {
namespace {

constexpr std::array<const char*, 17> sizes{"0",    "1",    "2",     "31",    "32",     "33",
                                            "255",  "256",  "257",   "511",   "512",    "513",
                                            "1023", "1025", "65535", "65537", "1000003"};
constexpr std::array<const char*, 3> all_data{"random", "ones", "cancelling"};

class Gpu : public testing::Test {
 protected:
  /// What a step writes that has to succeed.
  static nlohmann::json json_of(const std::string& step, const std::string& arguments) {
    const Outcome outcome = run_step_executable(step, arguments + " --device cuda --json - --quiet");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
    return nlohmann::json::parse(outcome.out);
  }

  void SetUp() override {
    const std::string reason = cuda_unavailable_reason();
    if (!reason.empty()) GTEST_SKIP() << "no CUDA device: " << reason;
  }
};

class GpuStep : public Gpu, public testing::WithParamInterface<std::string> {};

TEST_P(GpuStep, VerifiesForSizesBlocksTypesAndInputs) {
  // A process start costs more than a small reduction, so a sweep runs every block size or every type in one; what it
  // does not vary takes turns from size to size.
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const auto turn = [k](const auto& choices, std::size_t offset) {
      return choices[(k + offset) % choices.size()];
    };
    for (const std::string& sweep : {fmt::format("--sweep type -b {}", turn(block_sizes, 0)),
                                     fmt::format("--sweep block -t {}", to_string(turn(element_types, 1)))}) {
      const std::string arguments =
          fmt::format("-n {} --data {} {} --device cuda -s 1 --quiet", sizes[k], turn(all_data, 2), sweep);
      const Outcome outcome = run_step_executable(GetParam(), arguments);
      ASSERT_EQ(outcome.exit_code, 0) << arguments << "\n" << outcome.out << outcome.error;
    }
  }
}

TEST_P(GpuStep, ReportsATimeBelowThePeak) {
  const auto json = json_of(GetParam(), "-n 2^26");
  EXPECT_EQ(json["device"]["kind"], "cuda");
  EXPECT_GT(json["ms"]["median"].get<double>(), 0.0);
  if (json["percent_of_peak"].is_null()) GTEST_SKIP() << "this device does not tell its peak";
  EXPECT_GT(json["percent_of_peak"].get<double>(), 0.0);
  EXPECT_LE(json["percent_of_peak"].get<double>(), 100.0);
}

TEST_P(GpuStep, NeedsMoreThan32BitsForAnIndex) {
  const Outcome outcome = run_step_executable(GetParam(), "-n 4294967299 --device cuda -s 1 --quiet");
  if (lacks_memory(outcome)) GTEST_SKIP() << outcome.error;
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.error;
}

TEST_P(GpuStep, AnswersADeviceThatIsNotThere) {
  const Outcome outcome = run_step_executable(GetParam(), "--device cuda:99");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.error.find("there is no device cuda:99"), std::string::npos) << outcome.error;
}

TEST_P(GpuStep, AnswersAnInputThatDoesNotFit) {
  const Outcome outcome = run_step_executable(GetParam(), "-n 2^40 --device cuda");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.error.find("2^40 int32 need"), std::string::npos) << outcome.error;
}

/// Which block is the last differs from run to run; the order of the additions may not.
TEST_P(GpuStep, GivesTheSameBitsInEveryRun) {
  if (GetParam().starts_with("atomic_")) GTEST_SKIP() << "blocks add in any order";
  const auto sum = [] {
    return json_of(GetParam(), "-n 1000003 -t float32 --data cancelling -s 20")["result"].dump();
  };
  const std::string first = sum();
  for (int run = 0; run < 5; ++run)
    EXPECT_EQ(sum(), first);
}

INSTANTIATE_TEST_SUITE_P(Steps, GpuStep, testing::ValuesIn(programs_that_need({"any", "any-9", "cuda"})));
// Libraries under the same harness; peer_cub is among the steps.
INSTANTIATE_TEST_SUITE_P(Peers, GpuStep, testing::Values("peer_thrust", "peer_cooperative_groups"));

/// There may be no cuBLAS, and only newer headers have CUB's other modes.
TEST_F(Gpu, SumsWithLibrariesWhatTheyKnow) {
  struct Library {
    std::string peer;
    std::vector<std::string> types, refused;
    std::string reason;
  };
  const Library libraries[] = {
      {"peer_cublas",
       {"float32", "float64", "complex64", "complex128"},
       {"int32", "int64"},
       "cuBLAS knows no integers: choose -t float32, float64, complex64 or complex128"},
      {"peer_cub_gpu_to_gpu",
       {"float32", "float64"},
       {"int32", "int64", "complex64", "complex128"},
       "CUB has this mode for float32 and float64 only: choose one of them with -t"},
      {"peer_cub_not_guaranteed",
       {"int32", "int64", "float32", "float64"},
       {"complex64", "complex128"},
       "CUB has this mode for no complex numbers: choose -t int32, int64, float32 or float64"}};
  std::string missing;
  for (const auto& [peer, types, refused, reason] : libraries) {
    if (run_step_executable(peer, "--version").exit_code == 127) {
      missing += " " + peer;
      continue;
    }
    for (const std::string& type : types) {
      for (const char* size : sizes) {
        const std::string arguments = fmt::format("-n {} -t {} --device cuda -s 1 --quiet", size, type);
        const Outcome outcome = run_step_executable(peer, arguments);
        EXPECT_EQ(outcome.exit_code, 0) << peer << arguments << "\n" << outcome.out << outcome.error;
      }
    }
    for (const std::string& type : refused) {
      const Outcome outcome = run_step_executable(peer, "-n 1000 --device cuda -t " + type);
      EXPECT_EQ(outcome.exit_code, 3);
      EXPECT_EQ(outcome.out, "");
      EXPECT_EQ(outcome.error, peer + ": error: " + reason + "\n");
    }
  }
  if (!missing.empty()) GTEST_SKIP() << "the others are right, and here is no" << missing;
}

TEST_F(Gpu, QueuesNoSampleOfALibraryThatWaits) {
  EXPECT_EQ(json_of("peer_thrust", "-n 2^20 -s 3")["timing"]["queued"], false);
}

/// Then the host waits for each launch, and the device cannot be held until a sample is queued.
TEST_F(Gpu, SaysThatNoSampleIsQueuedWhereLaunchesBlock) {
  ASSERT_EQ(setenv("CUDA_LAUNCH_BLOCKING", "1", 1), 0);
  const Outcome outcome = run_step_executable("03_sequential", "-n 2^20 --device cuda --json - --quiet -s 3");
  ASSERT_EQ(unsetenv("CUDA_LAUNCH_BLOCKING"), 0);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["timing"]["queued"], false);
  EXPECT_NE(outcome.error.find("the host's launch latency is in the times"), std::string::npos)
      << outcome.error;
}

TEST_F(Gpu, HasTheUuidThatNvidiaSmiPrints) {
  const std::string uuid = open_cuda_device(0)->info().uuid;
  const Outcome listed = run_command("nvidia-smi -L");
  ASSERT_EQ(listed.exit_code, 0) << listed.error;
  EXPECT_NE(listed.out.find("(UUID: " + uuid + ")"), std::string::npos) << uuid << "\n" << listed.out;
}

TEST_F(Gpu, LeavesALibraryItsOwnBlocks) {
  const auto json = json_of("peer_cub", "-n 2^20 -s 3");
  EXPECT_TRUE(json["block"].is_null());
  EXPECT_TRUE(json["grid"].is_null());
  EXPECT_TRUE(json["passes"].empty());
}

TEST_F(Gpu, HoldsTheHeaderAgainstCub) {
  // A sweep has an odd number between each two powers of two.
  for (const auto& [options, each] :
       {std::pair("-n 1", 1U), std::pair("-n 2", 1U), std::pair("--sweep size -n 2^22", 25U)}) {
    const auto cells = json_of("12_against_cub", fmt::format("{} -s 2", options));
    EXPECT_EQ(cells.size(), each * 24);
    for (const auto& cell : cells) {
      EXPECT_EQ(cell["verified"], true) << cell;
      EXPECT_GT(cell["ms"]["median"].get<double>(), 0.0) << cell;
      EXPECT_GT(cell["cub_ms"]["median"].get<double>(), 0.0) << cell;
    }
  }
  const Outcome too_many = run_step_executable("12_against_cub", "-n 2^40 --case sum_int64 --device cuda");
  EXPECT_EQ(too_many.exit_code, 3);
  EXPECT_NE(too_many.error.find("choose fewer elements"), std::string::npos) << too_many.error;
  EXPECT_EQ(run_step_executable("12_against_cub", "-n 0").exit_code, 2);
}

}  // namespace
}  // namespace reduction
