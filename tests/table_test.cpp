/// What tables look like as a whole is in ladder_text_test.cpp, counter_report_test.cpp, report_test.cpp and
/// terminal_test.py.
#include "harness/table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reduction {
namespace {

Terminal terminal_of_width(std::size_t columns) { return {true, columns, false}; }

TEST(DisplayWidth, CountsColumnsAndNotBytes) {
  for (const char* one : {"a", "÷", "×", "²", "–", "→", "·", "█", "░", "▏", "─", "…"})
    EXPECT_EQ(display_width(one), 1u) << one;
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("2²⁸ → 2"), 7u);
  EXPECT_EQ(display_width("並列"), 4u) << "a wide character takes two columns";
  EXPECT_EQ(display_width(red("WRONG", {true, 80, true}) + "!"), 6u) << "a style takes none";
  EXPECT_EQ(display_width("\x1b[1"), 0u) << "not even one that does not end";
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

TEST(TerminalTable, GivesTheRoomThatIsLeftToBars) {
  const Table table{{{"step"}, {"", Align::left}, {"right", Align::left}}, {{"02", Bar{1}, "yes"}}};
  EXPECT_EQ(to_text(table, terminal_of_width(24)),
            "step               right\n"
            "────  ───────────  ─────\n"
            "  02  ███████████  yes\n");
  EXPECT_NE(to_text(table, terminal_of_width(10)).find("\n  02  ██████████  yes\n"), std::string::npos);
}

}  // namespace
}  // namespace reduction
