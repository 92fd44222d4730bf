#include "harness/terminal.hpp"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace reduction {

namespace {

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// ECMA-48 numbers the styles ("Select Graphic Rendition").
std::string in_style(std::string_view style, std::string_view text, const Terminal& terminal) {
  return terminal.styled && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : std::string(text);
}

/// Returns a text behind its label, on a terminal folded and indented.
std::string folded(std::string_view label, std::string_view text, std::size_t indent,
                   const Terminal& terminal) {
  if (!terminal.present) return fmt::format("{:<{}}{}\n", label, indent, text);
  std::string lines;
  for (const std::string& line : fold(text, terminal.columns - indent))
    lines += fmt::format("{:<{}}{}\n", lines.empty() ? label : "", indent, line);
  return lines;
}

}  // namespace

Terminal terminal_of(std::FILE* stream) {
  const int descriptor = fileno(stream);
  Terminal terminal;
  terminal.present = isatty(descriptor) == 1;
  if (!terminal.present) return terminal;
  winsize window{};
  if (ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
    terminal.columns = std::max<std::size_t>(40, window.ws_col);
  terminal.styled = variable("NO_COLOR").empty() && !variable("TERM").empty() && variable("TERM") != "dumb";
  return terminal;
}

std::size_t display_width(std::string_view text) {
  std::string shown;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '\x1b')
      k = std::min(text.find('m', k), text.size());
    else
      shown += text[k];
  }
  // A character takes at most as many columns as bytes. fmt pads by columns, so it knows how many a text takes.
  const std::size_t padded = shown.size() + 1;
  return padded - (fmt::formatted_size("{:<{}}", shown, padded) - shown.size());
}

std::vector<std::string> fold(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", start), text.size());
    const std::string_view word = text.substr(start, end - start);
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width)
      lines.push_back(std::exchange(line, ""));
    if (!line.empty() && !word.empty()) line += ' ';
    line += word;
    if (end == text.size() || text[end] == '\n') lines.push_back(std::exchange(line, ""));
    start = end + 1;
  }
  return lines;
}

std::string strong(std::string_view text, const Terminal& terminal) { return in_style("1", text, terminal); }
std::string green(std::string_view text, const Terminal& terminal) { return in_style("32", text, terminal); }
std::string red(std::string_view text, const Terminal& terminal) { return in_style("1;31", text, terminal); }

std::string error_label(std::string_view program, const Terminal& terminal) {
  return fmt::format("{}{}: {} ", terminal.present ? "\n" : "", program, red("error:", terminal));
}

std::string labelled(std::string_view label, std::string_view text, const Terminal& terminal) {
  return folded(label, text, 8, terminal);
}

std::string paragraph(std::string_view text, const Terminal& terminal) {
  return folded("", text, 0, terminal);
}

std::string draw(const Bar& bar, std::size_t width) {
  constexpr std::array eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto rounded = [&](double share, std::size_t parts) {
    return static_cast<std::size_t>(
        std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width * parts)));
  };
  if (bar.shaded > 0) {
    const std::size_t solid = rounded(bar.solid, 1);
    return fmt::format("{:█<{}}{:░<{}}", "", solid, "", rounded(bar.solid + bar.shaded, 1) - solid);
  }
  // What is not nothing is seen.
  const std::size_t parts = bar.solid > 0 ? std::max(rounded(bar.solid, 8), std::size_t{1}) : 0;
  const std::string text = fmt::format("{:█<{}}{}", "", parts / 8, eighths[parts % 8]);
  return bar.track ? fmt::format("{:·<{}}", text, width) : text;
}

}  // namespace reduction
