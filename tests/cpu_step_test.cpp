#include "harness/cpu_step.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

namespace reduction {
namespace {

// Sums of the one element that there is: a running sum, a tree that takes its time, and one that is wrong.

int running_sums = 0;

void add_running_sum(void* sum, const void* in, std::size_t) {
  ++running_sums;
  *static_cast<std::uint32_t*>(sum) += *static_cast<const std::uint32_t*>(in);
}
void sum_tree_slowly(void*, std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(25)); }
void sum_tree_wrongly(void* data, std::size_t) { ++*static_cast<std::uint32_t*>(data); }

/// What the step writes, and its exit code.
std::pair<nlohmann::json, int> run_with(void (*sum_tree)(void*, std::size_t)) {
  CpuKernels kernels{};
  kernels.front() = {add_running_sum, sum_tree};
  std::array<std::string, 10> words{"step", "-n", "1",  "--data",   "ones",
                                    "-s",   "3",  "-q", "--device", "emulated"};
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  std::string json = "--json=-";
  arguments.push_back(json.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code =
      run_cpu_step({"step", "a title", kernels}, static_cast<int>(arguments.size()), arguments.data());
  testing::internal::GetCapturedStderr();
  return {nlohmann::json::parse(testing::internal::GetCapturedStdout()), code};
}

TEST(CpuStep, TimesTheTreeByItself) {
  const auto [result, code] = run_with(sum_tree_slowly);
  EXPECT_EQ(code, 0);
  EXPECT_EQ(running_sums, 1 + 3) << "one to warm up";
  EXPECT_EQ(result["variant"], "running sum");
  const auto& tree = result["other_variants"][0];
  EXPECT_EQ(tree["variant"], "tree");
  // A chunk's tree and that of the chunks' sums.
  EXPECT_GE(tree["ms"]["min"], 50);
  EXPECT_LT(result["ms"]["min"], 50);
}

TEST(CpuStep, IsWrongWhereTheTreeIs) {
  const auto [result, code] = run_with(sum_tree_wrongly);
  EXPECT_EQ(code, 1);
  EXPECT_EQ(result["verified"], true);
  EXPECT_EQ(result["other_variants"][0]["verified"], false);
  EXPECT_EQ(result["other_variants"][0]["result"], 3);
}

}  // namespace
}  // namespace reduction
