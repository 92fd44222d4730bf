#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "emulated/run/schedule.hpp"

/// Programs that are drawn, each run in an order of its own beside an oracle.
namespace __emulated {

/// DRAWN_PROGRAMS is their number, DRAWN_SEED that of the first.
inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// \param is_wrong  runs the program of a seed, expects of it what the oracle does, and returns the oracle's verdict.
void draw_programs(const auto& is_wrong) {
  const std::uint64_t programs = number_from("DRAWN_PROGRAMS", 10'000);
  const std::uint64_t first = number_from("DRAWN_SEED", std::random_device{}());
  std::cout << "DRAWN_SEED=" << first << " DRAWN_PROGRAMS=" << programs << '\n';
  std::uint64_t wrong = 0;
  for (std::uint64_t seed = first; seed < first + programs && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("DRAWN_SEED=" + std::to_string(seed) + " DRAWN_PROGRAMS=1");
    constexpr std::array orders{Order::ascending, Order::descending, Order::random, Order::random};
    std::mt19937_64 random{seed};
    wrong += is_wrong(random, Schedule{orders[seed % orders.size()], seed});
  }
  // Both verdicts have been put to the test.
  if (programs < 1000) return;
  EXPECT_GT(wrong, programs / 10);
  EXPECT_LT(wrong, programs - programs / 10);
}

}  // namespace __emulated
