#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "harness/steps.hpp"

namespace reduction {

/// Returns the programs whose needs, as common/steps.txt says, are among these.
inline std::vector<std::string> programs_that_need(const std::vector<std::string_view>& needs) {
  std::vector<std::string> programs;
  for (const StepFacts& step : steps) {
    if (std::ranges::find(needs, step.needs) != needs.end()) programs.emplace_back(step.name);
  }
  return programs;
}

}  // namespace reduction
