/// Which accesses of a warp's lanes are one instruction, beside a warp that runs drawn programs as a GPU's does.
#include "emulated/count/lane_alignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace __emulated {
namespace {

/// How many instructions two lanes take whose accesses are these letters.
std::size_t instructions_of(std::string_view one, std::string_view other) {
  LaneNumbers places;
  for (const char letter : one)
    places[3].push_back(static_cast<unsigned>(letter - 'A'));
  for (const char letter : other)
    places[17].push_back(static_cast<unsigned>(letter - 'A'));
  std::set<std::uint32_t> all;
  for (const auto& lane : align(places, 26))
    all.insert(lane.begin(), lane.end());
  return all.size();
}

TEST(LaneAlignment, MeetsBehindABranch) {
  EXPECT_EQ(instructions_of("ABD", "ACD"), 4U);
  EXPECT_EQ(instructions_of("AB", "CD"), 4U);
  EXPECT_EQ(instructions_of("", "ABA"), 3U);
}

TEST(LaneAlignment, TakesTheConditionsOfALoopPassByPass) {
  EXPECT_EQ(instructions_of("ABAABX", "AABABX"), 3U + 3 + 1);
  EXPECT_EQ(instructions_of("ABABA", "AAA"), 5U);
  EXPECT_EQ(instructions_of("XABACABD", "XACABACD"), 1U + 3 + 6 + 1);
}

TEST(LaneAlignment, MeetsBehindAnInnerLoop) {
  EXPECT_EQ(instructions_of("RCCCDRCD", "RCDRCCCCD"), 2U + 3 + 4 + 2);
  EXPECT_EQ(instructions_of("RDRCD", "RCCDRD"), 2U + 2 + 1 + 2);
}

// ---- drawn programs ----

struct Statement {
  enum Kind { access, branch, loop } kind;
  std::uint32_t place = 0;
  unsigned condition = 0;
  std::vector<Statement> body{};
  std::vector<Statement> otherwise{};
};

/// Draws a program, and runs it as a warp whose lanes come together behind each branch, each loop and each pass of one.
class DrawnProgram {
 public:
  /// \param regular  whether a loop has as many passes for all lanes, or one more for some.
  DrawnProgram(unsigned seed, bool regular) : random_{seed}, regular_{regular} {
    const std::vector<Statement> program = statements(2, false);
    run(program, ~0U, 0);
  }

  bool diverges() const {
    return std::ranges::any_of(places_, [&](const auto& lane) { return lane != places_[0]; });
  }

  /// Whether the alignment says the same as the warp.
  bool is_aligned() const {
    const LaneNumbers aligned = align(places_, count_);
    std::map<std::uint32_t, std::uint32_t> known;  // of an aligned instruction the one that has run
    std::map<std::uint32_t, std::uint32_t> back;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      for (std::size_t i = 0; i < aligned[lane].size(); ++i) {
        const std::uint32_t ran = instructions_[lane][i];
        if (known.try_emplace(aligned[lane][i], ran).first->second != ran) return false;
        if (back.try_emplace(ran, aligned[lane][i]).first->second != aligned[lane][i]) return false;
      }
    }
    return true;
  }

  /// What holds of any alignment: an instruction has one place, and no lane twice.
  void expect_instructions() const {
    const LaneNumbers aligned = align(places_, count_);
    std::map<std::uint32_t, std::pair<std::uint32_t, unsigned>> known;  // the place and the lanes
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      ASSERT_EQ(aligned[lane].size(), places_[lane].size());
      for (std::size_t i = 0; i < aligned[lane].size(); ++i) {
        auto& [place, lanes] = known.try_emplace(aligned[lane][i], places_[lane][i], 0).first->second;
        ASSERT_EQ(place, places_[lane][i]);
        ASSERT_EQ(lanes & bit_of(lane), 0U);
        lanes |= bit_of(lane);
      }
    }
  }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }

  std::vector<Statement> statements(unsigned depth, bool with_access) {
    std::vector<Statement> drawn;
    for (unsigned i = 1 + draw(3); i > 0; --i)
      drawn.push_back(statement(depth));
    if (with_access) drawn.insert(drawn.begin() + draw(static_cast<unsigned>(drawn.size()) + 1), an_access());
    return drawn;
  }
  Statement an_access() { return {Statement::access, count_++}; }
  Statement statement(unsigned depth) {
    const unsigned kind = depth == 0 ? 0 : draw(4);
    if (kind < 2) return an_access();
    if (kind == 2) {
      Statement drawn{Statement::branch, 0, draw(5), statements(depth - 1, false)};
      if (draw(2) == 0) drawn.otherwise = statements(depth - 1, false);
      return drawn;
    }
    return {Statement::loop, 0, draw(regular_ ? 2 : 4), statements(depth - 1, true)};
  }

  bool is_met(unsigned condition, unsigned lane, unsigned pass) {
    switch (condition) {
      case 0: return draw(2) == 0;
      case 1: return (lane + pass) % 2 == 0;
      case 2: return lane < 16;
      case 3: return draw(8) != 0;
      default: return lane == pass;
    }
  }

  void run(const std::vector<Statement>& program, unsigned lanes, unsigned pass) {
    for (const Statement& statement : program) {
      if (lanes == 0) return;
      if (statement.kind == Statement::access) {
        for (const unsigned lane : lanes_of(lanes)) {
          places_[lane].push_back(statement.place);
          instructions_[lane].push_back(issued_);
        }
        ++issued_;
      } else if (statement.kind == Statement::branch) {
        unsigned taken = 0;
        for (const unsigned lane : lanes_of(lanes))
          if (is_met(statement.condition, lane, pass)) taken |= bit_of(lane);
        run(statement.body, taken, pass);
        run(statement.otherwise, lanes & ~taken, pass);
      } else {
        run_loop(statement, lanes);
      }
    }
  }

  void run_loop(const Statement& loop, unsigned lanes) {
    const unsigned common = draw(6);
    std::array<unsigned, warp_size> passes{};
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      switch (loop.condition) {
        case 0: passes[lane] = common; break;
        case 1: passes[lane] = common + (lane < 13 ? 1 : 0); break;
        case 2: passes[lane] = draw(6); break;
        default: passes[lane] = 1 + lane % 3;
      }
    }
    for (unsigned pass = 0;; ++pass) {
      unsigned left = 0;
      for (const unsigned lane : lanes_of(lanes))
        if (pass < passes[lane]) left |= bit_of(lane);
      if (left == 0) return;
      run(loop.body, left, pass);
    }
  }

  std::mt19937 random_;
  bool regular_;
  std::uint32_t count_ = 0;
  std::uint32_t issued_ = 0;
  LaneNumbers places_;
  LaneNumbers instructions_;
};

/// The part of 2000 drawn programs, of those in which lanes go different ways, of which the alignment is right.
double part_aligned(bool regular) {
  unsigned diverged = 0;
  unsigned aligned = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const DrawnProgram program{seed, regular};
    if (!program.diverges()) continue;
    ++diverged;
    if (program.is_aligned()) ++aligned;
    program.expect_instructions();
  }
  EXPECT_GT(diverged, 1000U);
  return static_cast<double>(aligned) / diverged;
}

TEST(LaneAlignment, IsRightWhereEachPassOfALoopHasAnAccessThatAllLanesMake) {
  EXPECT_GT(part_aligned(true), 0.995);
}

TEST(LaneAlignment, IsMostlyRightWhereLoopsAreNotEquallyLongForAllLanes) {
  EXPECT_GT(part_aligned(false), 0.96);
}

}  // namespace
}  // namespace __emulated
