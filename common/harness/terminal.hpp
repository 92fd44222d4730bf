#pragma once
/// \file
/// Who reads what a program prints: a person at a terminal of so many columns, or a file.

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace reduction {

/// The terminal that a stream leads to, if any.
struct Terminal {
  bool present = false;  ///< without one, what is printed is Markdown
  std::size_t columns = 80;
  bool styled = false;  ///< shows bold and coloured text
};

/// Describes where a stream leads to. A terminal that does not tell its width has 80 columns; one that is narrower than
/// 40 gets what 40 columns get. Without style where NO_COLOR is set or TERM is unset or dumb.
Terminal terminal_of(std::FILE* stream);

/// Returns the number of columns that a text takes on a terminal; its style takes none.
std::size_t display_width(std::string_view text);

/// Breaks a text at its spaces and line breaks into lines of at most `width` columns, but for longer words.
std::vector<std::string> fold(std::string_view text, std::size_t width);

/// Return the text in bold, or as pytest shows what has passed and what has failed, where the terminal has styles.
std::string strong(std::string_view text, const Terminal& terminal);
std::string green(std::string_view text, const Terminal& terminal);
std::string red(std::string_view text, const Terminal& terminal);

/// Returns what an error on stderr begins with; a terminal sets it apart.
std::string error_label(std::string_view program, const Terminal& terminal);

/// Returns a label and its text in lines, on a terminal folded and indented.
std::string labelled(std::string_view label, std::string_view text, const Terminal& terminal);

/// Returns sentences as lines, folded on a terminal.
std::string paragraph(std::string_view text, const Terminal& terminal);

/// A length as a share of the longest, which is 1: solid, then shaded.
struct Bar {
  double solid = 0;
  double shaded = 0;
  bool track = false;  ///< dots up to the longest
};

/// Draws a bar of at most `width` columns.
std::string draw(const Bar& bar, std::size_t width);

}  // namespace reduction
