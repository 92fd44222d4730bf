#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "emulated/findings/finding.hpp"

namespace __emulated {

/// Whether the file has changed since the running program was built, so that its lines may be other ones.
bool is_newer_than_the_program(const std::string& file);

/// The text of the location's line; nothing if the file cannot be read or is newer than the program.
std::optional<std::string> source_line(const SourceLocation& location);

/// Where the name stands in a line, from `begin` on; npos if it does not, but in other names.
std::size_t find_name(std::string_view name, std::string_view line, std::size_t begin = 0);

/// The column of a function's name in the location's line; 0 unless it is there exactly once.
unsigned column_of(std::string_view name, const SourceLocation& location);

/// The part of a line that a column stands for: "shared[tid + 1]" for that of its bracket, "sum +=" for that of its plus.
/// Without a column it is the statement, which is what the line has before a comment. Offsets from 0.
/// \param reads  whether what is meant is a read: a `=` stands for what is on its right
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};
Span span_at(std::string_view line, unsigned column, bool reads);

}  // namespace __emulated
