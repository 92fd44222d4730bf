#include "emulated/program/settings.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace emulated_program {
namespace {

unsigned number(const std::string& text) {
  return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, 10));
}

}  // namespace

std::string environment_of(const std::vector<std::string>& settings) {
  std::string text = std::string{settings_variable} + '=';
  for (const std::string& setting : settings)
    text += setting + '\n';
  return text;
}

Settings settings_of_environment() {
  Settings settings;
  const char* const text = std::getenv(settings_variable);
  std::istringstream lines{text != nullptr ? text : ""};
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find('='));
    const std::string value = line.substr(std::min(line.size(), name.size() + 1));
    if (name == "quiet") settings.quiet = true;
    if (name == "stop") settings.stop = true;
    if (name == "counters") settings.counters = value == "on";
    if (name == "limit") settings.limit = number(value);
    if (name == "order") settings.order = number(value);
    if (name == "json") settings.json = value;
    if (name == "trace") settings.trace = value;
    if (name == "to_trace") settings.to_trace = value;
    if (name == "seen") settings.seen = value;
  }
  return settings;
}

}  // namespace emulated_program
