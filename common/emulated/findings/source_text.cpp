#include "emulated/findings/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace __emulated {
namespace {

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

constexpr std::string_view blanks = " \t\r";
constexpr std::string_view operators = "+-*/%&|^=<>!~";

/// Of the operator that begins there.
std::size_t length_of_operator(std::string_view text) {
  if (text.starts_with("<<=") || text.starts_with(">>=")) return 3;
  const bool is_doubled =
      text.size() > 1 && text[0] == text[1] && text[0] != '*' && text[0] != '!' && text[0] != '~';
  const bool is_with_equals = text.size() > 1 && text[1] == '=' && text[0] != '~';
  return is_doubled || is_with_equals ? 2 : 1;
}

/// Where the name, member or element ends that begins before `end`: "point.x" and "cells[0]" are followed to their beginning.
std::size_t begin_of_operand(std::string_view line, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0) {
    const char c = line[begin - 1];
    if (is_of_name(c) || c == '.') {
      --begin;
    } else if (line.substr(0, begin).ends_with("->")) {
      begin -= 2;
    } else if (c == ']' || c == ')') {
      const char open = c == ']' ? '[' : '(';
      std::size_t at = begin - 1;
      for (int depth = 1; depth > 0 && at > 0;) {
        --at;
        if (line[at] == c) ++depth;
        if (line[at] == open) --depth;
      }
      if (line[at] != open) break;
      begin = at;
    } else {
      break;
    }
  }
  return begin;
}

/// Behind the bracket that closes the one at `begin`.
std::size_t end_of_brackets(std::string_view line, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < line.size(); ++at) {
    if (line[at] == '[' || line[at] == '(') ++depth;
    if ((line[at] == ']' || line[at] == ')') && --depth == 0) return at + 1;
  }
  return begin + 1;
}

}  // namespace

bool is_newer_than_the_program(const std::string& file) {
  std::error_code error;
  const auto changed = std::filesystem::last_write_time(file, error);
  if (error) return false;
  const auto built = std::filesystem::last_write_time("/proc/self/exe", error);
  return !error && changed > built;
}

std::optional<std::string> source_line(const SourceLocation& location) {
  if (location.line == 0 || is_newer_than_the_program(location.file)) return std::nullopt;
  std::ifstream file{location.file};
  std::string text;
  for (unsigned line = 0; line < location.line; ++line)
    if (!std::getline(file, text)) return std::nullopt;
  return text;
}

std::size_t find_name(std::string_view name, std::string_view line, std::size_t begin) {
  const auto is_name_at = [&](std::size_t at) { return at < line.size() && is_of_name(line[at]); };
  auto at = line.find(name, begin);
  while (at != line.npos && ((at > 0 && is_name_at(at - 1)) || is_name_at(at + name.size())))
    at = line.find(name, at + 1);
  return at;
}

unsigned column_of(std::string_view name, const SourceLocation& location) {
  const std::optional<std::string> line = source_line(location);
  if (!line) return 0;
  const auto at = find_name(name, *line);
  const bool is_there_once = at != line->npos && find_name(name, *line, at + 1) == line->npos;
  return is_there_once ? static_cast<unsigned>(at) + 1 : 0;
}

Span span_at(std::string_view line, unsigned column, bool reads) {
  if (column == 0 || column > line.size() || blanks.find(line[column - 1]) != std::string_view::npos) {
    const auto begin = std::min(line.find_first_not_of(blanks), line.size());
    auto code = line.substr(0, line.find("//", begin));
    const auto last = code.find_last_not_of(blanks);
    return {begin, last == std::string_view::npos ? begin : last + 1};
  }
  const std::size_t at = column - 1;
  const char c = line[at];
  // Compilers location an element of an array at its first or its last bracket.
  if (c == '[' || c == '(') return {begin_of_operand(line, at), end_of_brackets(line, at)};
  if (c == ']' || c == ')') return {begin_of_operand(line, at + 1), at + 1};
  std::size_t end = at + 1;
  if (is_of_name(c)) {
    while (end < line.size() && is_of_name(line[end]))
      ++end;
    if (end < line.size() && (line[end] == '(' || line[end] == '[')) return {at, end_of_brackets(line, end)};
    // What initialises a variable is at its name.
    const auto next = std::min(line.find_first_not_of(blanks, end), line.size());
    const std::string_view rest = line.substr(next);
    if (rest.starts_with('=') && !rest.starts_with("==")) end = std::min(line.find(';', next), line.size());
  } else if (c == '.' || line.substr(at).starts_with("->")) {
    end += c == '.' ? 0 : 1;
    while (end < line.size() && is_of_name(line[end]))
      ++end;
    return {begin_of_operand(line, at), end};
  } else if (operators.find(c) != std::string_view::npos) {
    end = at + length_of_operator(line.substr(at));
    // An operator that writes is shown with what it writes to.
    const std::string_view token = line.substr(at, end - at);
    if (token == "=" && reads) return {at, std::min(line.find(';', at), line.size())};
    if (token.ends_with('=') || token == "++" || token == "--") {
      const auto target = line.substr(0, at).find_last_not_of(blanks);
      if (target == std::string_view::npos) return {at, end};
      std::size_t begin = begin_of_operand(line, target + 1);
      while (begin > 0 && line[begin - 1] == '*')
        --begin;
      return {begin, end};
    }
  }
  return {at, end};
}

}  // namespace __emulated
