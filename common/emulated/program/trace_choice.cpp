#include "emulated/program/trace_choice.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace emulated_program {
namespace {

/// An empty text stands for none. Says whether the text is a number.
bool read(std::string_view text, std::size_t least, std::optional<std::size_t>& number) {
  if (text.empty()) return true;
  std::size_t read = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
  number = read;
  return error == std::errc{} && end == text.data() + text.size() && read >= least;
}

}  // namespace

std::string TraceChoice::text() const {
  const auto number = [](const std::optional<std::size_t>& of) { return of ? std::to_string(*of) : ""; };
  return file + ':' + kernel + ':' + number(launch) + ':' + number(block);
}

std::optional<TraceChoice> trace_choice(std::string_view text) {
  // A path may have colons, too.
  const std::size_t name = std::min(text.rfind(".html"), text.rfind(".json"));
  if (name == text.npos || name == 0) return std::nullopt;
  const std::size_t end = name + std::string_view{".html"}.size();
  std::vector<std::string_view> parts;
  for (std::string_view rest = text.substr(end); !rest.empty();) {
    if (rest[0] != ':') return std::nullopt;
    rest.remove_prefix(1);
    parts.push_back(rest.substr(0, rest.find(':')));
    rest.remove_prefix(parts.back().size());
  }
  if (parts.size() > 3) return std::nullopt;
  parts.resize(3);
  TraceChoice choice{std::string{text.substr(0, end)}, std::string{parts[0]}};
  if (!read(parts[1], 1, choice.launch) || !read(parts[2], 0, choice.block)) return std::nullopt;
  return choice;
}

}  // namespace emulated_program
