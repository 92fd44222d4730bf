#include "emulated/findings/finding.hpp"

#include <array>
#include <sstream>
#include <utility>

namespace __emulated {
namespace {

std::string lines_of(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    if (!text.empty()) text += '\n';
    text += finding.text;
  }
  return text;
}

}  // namespace

std::string_view name_of(Fault fault) {
  constexpr std::array<std::string_view, 14> names{"race",
                                                   "missed barrier",
                                                   "divergent barrier",
                                                   "deadlock",
                                                   "invalid mask",
                                                   "shuffle from an inactive lane",
                                                   "invalid width",
                                                   "misaligned access",
                                                   "out of bounds",
                                                   "uninitialised read",
                                                   "endless loop",
                                                   "wait for another block",
                                                   "stack overflow",
                                                   "trap"};
  return names.at(static_cast<std::size_t>(fault));
}

std::string to_string(const SourceLocation& location) {
  if (location.line == 0) return "a line that only a build with debug information names";
  const auto name = location.file.rfind('/');
  const auto directory = name == std::string::npos || name == 0 ? name : location.file.rfind('/', name - 1);
  const std::string file =
      directory == std::string::npos ? location.file : location.file.substr(directory + 1);
  return file + ':' + std::to_string(location.line);
}

std::string describe_numbers(std::string_view thing, const std::vector<unsigned>& numbers) {
  std::ostringstream text;
  text << thing << (numbers.size() == 1 ? " " : "s ");
  constexpr int most_ranges = 8;
  int ranges = 0;
  for (std::size_t i = 0; i < numbers.size(); ++ranges) {
    if (ranges == most_ranges) {
      text << " and " << numbers.size() - i << " more";
      break;
    }
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    if (i != 0) text << ", ";
    text << numbers[i];
    if (last != i) text << '-' << numbers[last];
    i = last + 1;
  }
  return std::move(text).str();
}

KernelFinding::KernelFinding(std::vector<Finding> findings)
    : std::runtime_error{lines_of(findings)}, findings_{std::move(findings)} {}

}  // namespace __emulated
