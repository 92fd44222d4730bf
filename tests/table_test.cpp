/// What tables of steps look like as a whole is in counter_report_test.cpp, report_test.cpp and terminal_test.py.
#include "harness/table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reduction {
namespace {

Terminal terminal_of_width(std::size_t columns) { return {true, columns, false}; }

/// A table as the counters have it.
Table counted() {
  return {{{"step", Align::left}, {"block barriers per block"}, {"change", Align::left}},
          {{"02", "9", {"× 2", true}}, {"03", "1024", {"÷ 3.33", true}}}};
}

TEST(DisplayWidth, CountsColumnsAndNotBytes) {
  for (const char* one : {"a", "÷", "×", "²", "–", "→", "·", "█", "░", "▏", "─", "…"})
    EXPECT_EQ(display_width(one), 1u) << one;
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("2²⁸ → 2"), 7u);
  EXPECT_EQ(display_width("並列"), 4u) << "a wide character takes two columns";
}

TEST(Fold, BreaksAtSpacesButNoWord) {
  EXPECT_EQ(fold("4096 → 16 → 1 blocks", 9), (std::vector<std::string>{"4096 → 16", "→ 1", "blocks"}));
  EXPECT_EQ(fold("÷÷÷÷÷ a", 2), (std::vector<std::string>{"÷÷÷÷÷", "a"}));
  EXPECT_EQ(fold("Harris 2007\nG80", 20), (std::vector<std::string>{"Harris 2007", "G80"}));
  EXPECT_EQ(fold("", 5), (std::vector<std::string>{""}));
}

TEST(Draw, FillsABarByEighthsAndTellsConflictsApart) {
  EXPECT_EQ(draw({0.5, 0, true}, 4), "██··");
  EXPECT_EQ(draw({0.28125, 0, false}, 4), "█▏");
  EXPECT_EQ(draw({0.0001, 0, false}, 4), "▏") << "little is not nothing";
  EXPECT_EQ(draw({0, 0, true}, 3), "···");
  EXPECT_EQ(draw({0.25, 0.75, false}, 4), "█░░░");
  EXPECT_EQ(draw({1.2, 0, true}, 4), "████") << "more than the longest is no longer";
}

TEST(Markdown, HasEveryColumnOfPagesAndNoOther) {
  Table table = counted();
  table.columns.push_back({"bar", Align::left, Form::terminal});
  for (Row& row : table.rows)
    row.push_back(Bar{1, 0, false});
  table.rows[0][1] = "";
  EXPECT_EQ(to_text(table, {}),
            "| step | block barriers per block | change |\n"
            "|:--|--:|:--|\n"
            "| 02 | | × 2 |\n"
            "| 03 | 1024 | ÷ 3.33 |\n");
}

TEST(TerminalTable, FoldsHeadersWhereItIsTooWideOtherwise) {
  const std::string narrow =
      "         block\n"
      "      barriers\n"
      "           per\n"
      "step     block  change\n"
      "────  ────────  ──────\n"
      "02           9  × 2\n"
      "03        1024  ÷ 3.33\n";
  EXPECT_EQ(to_text(counted(), terminal_of_width(22)), narrow);
  EXPECT_EQ(to_text(counted(), terminal_of_width(10)), narrow) << "no word is broken, and no cell is cut";
}

TEST(TerminalTable, HasNoColumnOfPages) {
  Table table = counted();
  table.columns[1].form = Form::markdown;
  const std::string text =
      "step  change\n"
      "────  ──────\n"
      "02    × 2\n"
      "03    ÷ 3.33\n";
  EXPECT_EQ(to_text(table, terminal_of_width(80)), text);
}

}  // namespace
}  // namespace reduction
