/// \file
/// The published tables of docs/tables, and what programs show of them.

#include "documented_tables.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/element_type.hpp"
#include "harness/published_figures.hpp"

namespace reduction {
namespace {

const std::filesystem::path source_folder = SOURCE_FOLDER;

const std::vector<DocumentedTable>& documented_tables() {
  static const std::vector<DocumentedTable> tables = read_documented_tables(source_folder);
  return tables;
}

const DocumentedTable& table_named(std::string_view name) {
  const auto& tables = documented_tables();
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const DocumentedTable& table) { return table.name == name; });
  if (found == tables.end()) throw std::runtime_error("no table " + std::string{name});
  return *found;
}

TEST(DocumentedTables, AreTheFilesOfTheFolder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder / "docs/tables")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().stem());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> names;
  for (const DocumentedTable& table : documented_tables())
    names.push_back(table.name);
  EXPECT_EQ(names, files);
  EXPECT_GE(names.size(), 5u);
}

bool has_kernel(const std::string& step) {
  const std::string peer = step.substr(step.find('_') + 1);
  return std::filesystem::exists(source_folder / step / "kernel.cuh") ||
         std::filesystem::exists(source_folder / "beyond" / step / "kernel.cuh") ||
         std::filesystem::exists(source_folder / "beyond/atomics" / step / "kernel.cuh") ||
         std::filesystem::exists(source_folder / "beyond/peers" / peer / "kernel.cuh");
}

TEST(DocumentedTables, AreOfStepsAndTypesThatExist) {
  for (const DocumentedTable& table : documented_tables()) {
    EXPECT_FALSE(table.steps.empty()) << table.name;
    EXPECT_TRUE(std::any_of(element_types.begin(), element_types.end(),
                            [&](ElementType type) { return to_string(type) == table.type; }))
        << table.name << ": " << table.type;
    for (const DocumentedFigure& figure : table.steps)
      EXPECT_TRUE(has_kernel(figure.name)) << figure.name;
  }
}

TEST(DocumentedTables, GiveTheShareOfThePeak) {
  for (const DocumentedTable& table : documented_tables()) {
    for (const DocumentedFigure& figure : table.steps) {
      if (!figure.gbps) continue;
      EXPECT_DOUBLE_EQ(figure.percent, *figure.gbps / table.peak_gbps * 100) << table.name << figure.name;
    }
  }
  EXPECT_NEAR(table_named("2007_harris_g80").find("07_cascade")->percent, 72.5, 0.05);
  EXPECT_NEAR(table_named("2023_sizmann_rtx3070").find("05_unroll_warp")->percent, 92.2, 0.05);
  EXPECT_EQ(table_named("2023_sizmann_a100").find("05_unroll_warp")->percent, 92);
}

TEST(DocumentedTables, HaveTimesThatFitTheirBandwidths) {
  for (const DocumentedTable& table : documented_tables()) {
    const double bytes = static_cast<double>(table.elements) * 4;
    for (const DocumentedFigure& figure : table.steps) {
      if (!figure.ms) continue;
      ASSERT_TRUE(figure.gbps) << figure.name;
      // The times have three digits.
      EXPECT_NEAR(bytes / *figure.ms / 1e6 / *figure.gbps, 1, 0.002) << table.name << " " << figure.name;
    }
  }
}

TEST(DocumentedTables, QuoteWhatTheirOriginalSays) {
  std::size_t quoting = 0;
  for (const DocumentedTable& table : documented_tables()) {
    if (table.quotes.empty()) continue;
    ++quoting;
    const DocumentedTable& original = table_named(table.quotes);
    EXPECT_EQ(original.peak_gbps, table.peak_gbps);
    for (const DocumentedFigure& figure : table.steps) {
      ASSERT_NE(original.find(figure.name), nullptr) << figure.name;
      EXPECT_NEAR(*figure.gbps, *original.find(figure.name)->gbps, 0.1) << figure.name;
    }
  }
  EXPECT_EQ(originals_of(documented_tables()).size() + quoting, documented_tables().size());
}

/// A table of one step; `row` goes between the braces of its row.
std::string table_with(const std::string& row) {
  return R"({"label": "A 2020", "source": {"author": "A", "title": "B", "publisher": "C", "year": 2020},
             "hardware": {"name": "D", "peak_gbps": 200}, "input": {"elements": 1024, "type": "int32"},
             "method": "M", "rows": [{"step": "01_interleaved", )" +
         row + "}]}";
}

TEST(DocumentedTables, AreRefusedWhereTheyContradictThemselves) {
  EXPECT_EQ(parse_documented_table("t", table_with(R"("gbps": 50)")).steps.front().percent, 25);
  EXPECT_NO_THROW(parse_documented_table("t", table_with(R"("gbps": 50, "percent": 25.4)")));
  for (const char* row :
       {R"("gbps": 50, "percent": 26)", R"("note": "nothing")", R"("gbps": 201)", R"("gbps": "50")"}) {
    EXPECT_THROW(parse_documented_table("t", table_with(row)), std::runtime_error) << row;
  }
  try {
    parse_documented_table("some_table", "{}");
    FAIL() << "a table without a source";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("docs/tables/some_table.json: ")) << error.what();
  }
}

TEST(DocumentedTables, HaveThisRepositorysFromItsResults) {
  const char* const json = R"({"label": "L 2026", "results": "docs/results/card"})";
  const char* const measured = R"({"gpu": "Card", "driver": "1.2", "cuda": "13.0", "date": "2026-11-21",
                                   "command": "docs/results/measure.sh", "commit": "0123456789abcdef"})";
  const char* const ladder = R"([
    {"step": "00_cpu_serial", "device": {"kind": "cpu"}},
    {"step": "01_interleaved", "device": {"kind": "cuda", "peak_gbps": 400.04}, "elements": 1000000, "type": "float32",
     "block": 256, "ms": {"median": 0.04}, "gbps": 100.04}])";
  const DocumentedTable table = parse_measured_table("own", json, measured, ladder);
  EXPECT_EQ(table.gpu, "Card");
  EXPECT_EQ(table.year, 2026);
  EXPECT_EQ(table.peak_gbps, 400);
  EXPECT_EQ(table.data, "../../docs/results/card/ladder.json");
  ASSERT_EQ(table.steps.size(), 1u);
  EXPECT_EQ(table.steps.front().percent, 25);
  EXPECT_EQ(input_text(table), "1000000 float32, block 256");
  EXPECT_THROW(parse_measured_table("own", json, "{}", ladder), std::runtime_error);
}

TEST(DocumentedTables, NameTheBlockOnlyWhereAllStepsHaveIt) {
  const auto own_table = [](const std::vector<std::string>& blocks) {
    std::string ladder;
    for (const std::string& block : blocks) {
      ladder +=
          (ladder.empty() ? "[" : ", ") +
          (R"({"step": "a", "device": {"kind": "cuda", "peak_gbps": 400}, "elements": 1024, "type": "int32",
                     "ms": {"median": 1}, "gbps": 1, "block": )" +
           block + "}");
    }
    return parse_measured_table("own", R"({"label": "L 2026", "results": "docs/results/card"})",
                                R"({"gpu": "Card", "driver": "1.2", "cuda": "13.0", "date": "2026-11-21",
                                    "command": "docs/results/measure.sh", "commit": "0123456789abcdef"})",
                                ladder + "]");
  };
  EXPECT_EQ(input_text(own_table({"256", "256", "null"})), "2^10 int32, block 256");
  EXPECT_EQ(input_text(own_table({"256", "1024", "256", "null"})), "2^10 int32");
}

/// The row of the repository's own table, whose figures change with each measurement.
std::string own_row(const std::string& step) {
  const DocumentedTable& table = table_named("2026_nvidia_h200");
  const DocumentedFigure* const figure = table.find(step);
  if (figure == nullptr) throw std::runtime_error("no figure of " + step);
  return fmt::format("| this repository 2026 | NVIDIA H200 | {} | {:.5g} | {:.1f} |\n", input_text(table),
                     *figure->gbps, figure->percent);
}

TEST(PublishedText, ShowsAStepOnEachCard) {
  EXPECT_EQ(published_text("05_unroll_warp"),
            "| documented | GPU | input | GB/s | % of peak |\n"
            "|:--|:--|:--|--:|--:|\n"
            "| Harris 2007 | G80 | 2^22 int32, block 128 | 31.289 | 36.2 |\n"
            "| Sizmann 2023 | A100 | 2^28 int32 | – | 92 |\n"
            "| Sizmann 2023 | RTX 3070 | 2^28 int32 | 413 | 92.2 |\n"
            "| blog 2025 | RTX 3090 | 2^25 float32 | 859 | 91.8 |\n" +
                own_row("05_unroll_warp"));
  EXPECT_EQ(published_text("peer_cub"),
            "| documented | GPU | input | GB/s | % of peak |\n|:--|:--|:--|--:|--:|\n" + own_row("peer_cub"));
  EXPECT_EQ(published_text("00_cpu_serial"), "");
}

}  // namespace
}  // namespace reduction
