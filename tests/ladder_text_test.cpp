/// The tables of all steps, of results as runs would have them.
#include "harness/ladder_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/published_figures.hpp"

namespace reduction {
namespace {

/// A result as a run of the step on a GPU would write it.
Result gpu_result(const std::string& step, double ms, unsigned block) {
  Result result;
  result.step = step;
  result.device.kind = DeviceKind::cuda;
  result.device.name = "Some GPU";
  result.device.peak_gbps = 2000;
  result.input.n = 250'000'000;  // 1 GB
  result.block = block;
  result.ms = Summary{.median = ms};
  result.verdict.verified = true;
  return result;
}

/// In Markdown.
std::string ladder_of(const std::vector<Result>& results) { return ladder_text(results, Terminal{}); }

/// From the title on.
std::string own_of(const std::string& text) { return text.substr(text.find("Your run: ")); }

TEST(LadderText, GivesEachStepsShareOfCubAndOfTheStepBefore) {
  auto cpu = gpu_result("00_cpu_serial", 800, 0);
  cpu.device.kind = DeviceKind::cpu;
  const std::string text =
      ladder_of({cpu, gpu_result("01_interleaved", 8, 256), gpu_result("09_vector_loads", 2, 256),
                 gpu_result("10_single_pass", 1, 1024), gpu_result("peer_cub", 2, 0),
                 gpu_result("12_any_operation", 0.5, 0)});
  EXPECT_EQ(own_of(text),
            "Your run: Some GPU, 250000000 int32\n\n"
            "| step | ms | GB/s | % of peak | × previous | × 01 | % of CUB | verified |\n"
            "|:--|--:|--:|--:|--:|--:|--:|:--|\n"
            "| 00_cpu_serial | 800.0000 | 1.2 | 0.1 | – | – | – | yes |\n"
            "| 01_interleaved | 8.0000 | 125.0 | 6.2 | – | 1.00 | 25.0 | yes |\n"
            "| 09_vector_loads | 2.0000 | 500.0 | 25.0 | 4.00 | 4.00 | 100.0 | yes |\n"
            "| 10_single_pass | 1.0000 | 1000.0 | 50.0 | 2.00 | 8.00 | 200.0 | yes |\n"
            "| peer_cub | 2.0000 | 500.0 | 25.0 | – | 4.00 | 100.0 | yes |\n"
            "| 12_any_operation | 0.5000 | 2000.0 | 100.0 | 2.00 | 16.00 | 400.0 | yes |\n\n"
            "01 reached 125.0 GB/s, 12 reaches 2000.0, 100.0 % of the peak. All sums are right.\n");
}

TEST(LadderText, SaysWhatChangedWhereSomethingTells) {
  auto first = gpu_result("01_interleaved", 8, 256);
  auto last = gpu_result("03_sequential", 4, 256);
  last.device.peak_gbps.reset();
  EXPECT_TRUE(ladder_of({first, last})
                  .ends_with("\n\n01 reached 125.0 GB/s, 03 reaches 250.0. All sums are right.\n"));
  first.ms.reset();
  EXPECT_TRUE(ladder_of({first, last}).ends_with("\n\nAll sums are right.\n"));
  EXPECT_TRUE(ladder_of({last}).ends_with("\n\nAll sums are right.\n"));
}

/// In blocks of the same size if there are such, and never with another number of elements.
TEST(LadderText, ComparesLikeWithLikeInASweep) {
  auto half = gpu_result("03_sequential", 1, 256);
  half.input.n /= 2;
  EXPECT_EQ(ladder_of({gpu_result("01_interleaved", 8, 128), gpu_result("01_interleaved", 6, 256),
                       gpu_result("02_nondivergent", 4, 128), gpu_result("02_nondivergent", 2, 512), half}),
            "Your run: Some GPU\n\n"
            "| step | type | elements | block | ms | GB/s | % of peak | × previous | × 01 | verified |\n"
            "|:--|:--|--:|--:|--:|--:|--:|--:|--:|:--|\n"
            "| 01_interleaved | int32 | 250000000 | 128 | 8.0000 | 125.0 | 6.2 | – | 1.00 | yes |\n"
            "| 01_interleaved | int32 | 250000000 | 256 | 6.0000 | 166.7 | 8.3 | – | 1.00 | yes |\n"
            "| 02_nondivergent | int32 | 250000000 | 128 | 4.0000 | 250.0 | 12.5 | 2.00 | 2.00 | yes |\n"
            "| 02_nondivergent | int32 | 250000000 | 512 | 2.0000 | 500.0 | 25.0 | 3.00 | 3.00 | yes |\n"
            "| 03_sequential | int32 | 125000000 | 256 | 1.0000 | 500.0 | 25.0 | – | – | yes |\n\n"
            "All sums are right.\n");
}

/// This repository's own results come last, a table for each card; they change with each measurement.
std::string own(const std::string& step) {
  std::string text;
  for (const PublishedTable& table : published_tables()) {
    if (!table.label.starts_with("this repository")) continue;
    const PublishedFigure& figure = *find_published(table, step);
    text += fmt::format("| {} | {} | {} | {} | {} |\n", table.label, table.gpu, table.input, figure.gbps,
                        figure.percent);
  }
  return text;
}

TEST(LadderText, BeginsWithWhatOthersHavePublished) {
  EXPECT_TRUE(ladder_of({gpu_result("atomic_leader", 4, 256)}).starts_with("Your run: "));
  const std::string text = ladder_of({gpu_result("02_nondivergent", 4, 256),
                                      gpu_result("03_sequential", 4, 256), gpu_result("peer_cub", 1, 0)});
  EXPECT_TRUE(
      text.starts_with("Published figures, % of each card's peak (GB/s); sources in docs/tables:\n\n"
                       "| card, source | 02 | 03 |\n"
                       "|:--|--:|--:|\n"
                       "| G80, Harris 2007, 2^22 int32, block 128 | 5.6 (4.854) | 11.3 (9.741) |\n"
                       "| RTX 3070, Sizmann 2023, 2^28 int32 | 39.3 (176) | 41.3 (185.1) |\n"))
      << text;
  const PublishedTable card = published_tables().back();
  const PublishedFigure& cub = *find_published(card, "peer_cub");
  EXPECT_NE(text.find(fmt::format("| {} ({}) |\n\nYour run: ", cub.percent, cub.gbps)), std::string::npos)
      << text;
}

/// Per element, so that a larger tile does not look like more work.
TEST(LadderText, CountsPerElementOnATerminal) {
  const auto counted = [](const std::string& step, std::uint64_t blocks, bool is_right) {
    Result result = gpu_result(step, 1, 256);
    result.device = {};
    result.device.kind = DeviceKind::emulated;
    result.device.name = "emulated";
    result.ms.reset();
    result.input.n = 1000;
    result.passes = {{1000, blocks}};
    result.pass_counters.resize(1);
    result.pass_counters.front().block_barriers = blocks * 9;
    result.pass_counters.front().shared_load_requests = blocks * 50;
    result.pass_counters.front().shared_load_wavefronts = blocks * 100;
    result.pass_counters.front().shared_load_conflicts = blocks * 50;
    result.verdict.verified = is_right;
    return result;
  };
  const std::vector<Result> results{counted("03_sequential", 4, true), counted("04_first_add", 2, false)};
  EXPECT_EQ(own_of(ladder_text(results, {true, 74, false})),
            "Your run: emulated, 1000 int32; blocks, and counts per element\n"
            "                                                       ░ in\n"
            "step           blocks  barriers  requests  wavefronts  conflict      right\n"
            "─────────────  ──────  ────────  ────────  ──────────  ────────────  ─────\n"
            "03_sequential       4    0.0360    0.2000      0.4000  ██████░░░░░░  yes\n"
            "04_first_add        2    0.0180    0.1000      0.2000  ███░░░        NO\n"
            "03 took 0.4000 wavefronts per element, 04 takes 0.2000. WRONG:\n"
            "04_first_add.\n");
  EXPECT_NE(ladder_text(results, {true, 80, true}).find("\x1b[1;31mWRONG: 04_first_add.\x1b[0m\n"),
            std::string::npos);
}

TEST(PublishedText, HasARowOfEachTableThatHasTheStep) {
  const std::string text = published_text("03_sequential");
  EXPECT_TRUE(text.starts_with("| documented | GPU | input | GB/s | % of peak |\n")) << text;
  EXPECT_TRUE(text.ends_with("| blog 2025 | RTX 3090 | 2^25 float32 | 331 | 35.4 |\n" + own("03_sequential")))
      << text;
  EXPECT_NE(published_text("atomic_each").find("| blog 2025 | RTX 3090 | 2^25 float32 | 2.47 | 0.3 |\n"),
            std::string::npos);
  EXPECT_EQ(published_text("14_same_bits"), "");
}

}  // namespace
}  // namespace reduction
