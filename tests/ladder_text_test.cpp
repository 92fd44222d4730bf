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

TEST(LadderText, GivesEachStepsShareOfCubAndOfTheStepBefore) {
  auto cpu = gpu_result("00_cpu_serial", 800, 0);
  cpu.device.kind = DeviceKind::cpu;
  const std::string text =
      ladder_of({cpu, gpu_result("01_interleaved", 8, 256), gpu_result("09_vector_loads", 2, 256),
                 gpu_result("10_single_pass", 1, 1024), gpu_result("peer_cub", 2, 0),
                 gpu_result("12_any_operation", 0.5, 0)});
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "| step | ms | GB/s | % of peak | × previous | × 01 | % of CUB | verified |\n"
            "|:--|--:|--:|--:|--:|--:|--:|:--|\n"
            "| 00_cpu_serial | 800.0000 | 1.2 | 0.1 | – | – | – | yes |\n"
            "| 01_interleaved | 8.0000 | 125.0 | 6.2 | – | 1.00 | 25.0 | yes |\n"
            "| 09_vector_loads | 2.0000 | 500.0 | 25.0 | 4.00 | 4.00 | 100.0 | yes |\n"
            "| 10_single_pass | 1.0000 | 1000.0 | 50.0 | 2.00 | 8.00 | 200.0 | yes |\n"
            "| peer_cub | 2.0000 | 500.0 | 25.0 | – | 4.00 | 100.0 | yes |\n"
            "| 12_any_operation | 0.5000 | 2000.0 | 100.0 | 2.00 | 16.00 | 400.0 | yes |");
}

/// In blocks of the same size if there are such, and never with another number of elements.
TEST(LadderText, ComparesLikeWithLikeInASweep) {
  auto half = gpu_result("03_sequential", 1, 256);
  half.input.n /= 2;
  EXPECT_EQ(ladder_of({gpu_result("01_interleaved", 8, 128), gpu_result("01_interleaved", 6, 256),
                       gpu_result("02_nondivergent", 4, 128), gpu_result("02_nondivergent", 2, 512), half}),
            "| step | type | elements | block | ms | GB/s | % of peak | × previous | × 01 | verified |\n"
            "|:--|:--|--:|--:|--:|--:|--:|--:|--:|:--|\n"
            "| 01_interleaved | int32 | 250000000 | 128 | 8.0000 | 125.0 | 6.2 | – | 1.00 | yes |\n"
            "| 01_interleaved | int32 | 250000000 | 256 | 6.0000 | 166.7 | 8.3 | – | 1.00 | yes |\n"
            "| 02_nondivergent | int32 | 250000000 | 128 | 4.0000 | 250.0 | 12.5 | 2.00 | 2.00 | yes |\n"
            "| 02_nondivergent | int32 | 250000000 | 512 | 2.0000 | 500.0 | 25.0 | 3.00 | 3.00 | yes |\n"
            "| 03_sequential | int32 | 125000000 | 256 | 1.0000 | 500.0 | 25.0 | – | – | yes |\n");
}

/// This repository's own results come last, a table for each card; they change with each measurement.
std::string own(const std::string& step, bool in_rows) {
  std::string text;
  for (const PublishedTable& table : published_tables()) {
    if (!table.label.starts_with("this repository")) continue;
    const PublishedFigure& figure = *find_published(table, step);
    text += in_rows ? fmt::format("| {} | {} | {} | {} | {} |\n", table.label, table.gpu, table.input,
                                  figure.gbps, figure.percent)
                    : fmt::format(" {} ({}) |", figure.percent, figure.gbps);
  }
  return text;
}

TEST(LadderText, EndsWithWhatOthersHavePublished) {
  const std::string timed = ladder_of({gpu_result("03_sequential", 4, 256), gpu_result("peer_cub", 1, 0)});
  EXPECT_NE(timed.find("\n| step | here: Some GPU | Harris 2007: G80, 2^22 int32, block 128 | "),
            std::string::npos)
      << timed;
  EXPECT_NE(timed.find("| 03_sequential | 12.5 (250.0) | 11.3 (9.741) | – | 41.3 (185.1) | 35.4 (331) |" +
                       own("03_sequential", false) + "\n| peer_cub | 50.0 (1000.0) | – | – | – | – |" +
                       own("peer_cub", false) + "\n"),
            std::string::npos)
      << timed;
}

TEST(PublishedText, HasARowOfEachTableThatHasTheStep) {
  const std::string text = published_text("03_sequential");
  EXPECT_TRUE(text.starts_with("| documented | GPU | input | GB/s | % of peak |\n")) << text;
  EXPECT_TRUE(
      text.ends_with("| blog 2025 | RTX 3090 | 2^25 float32 | 331 | 35.4 |\n" + own("03_sequential", true)))
      << text;
  EXPECT_NE(published_text("atomic_each").find("| blog 2025 | RTX 3090 | 2^25 float32 | 2.47 | 0.3 |\n"),
            std::string::npos);
  EXPECT_EQ(published_text("14_same_bits"), "");
}

}  // namespace
}  // namespace reduction
