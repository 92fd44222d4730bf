#include "harness/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace reduction {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_bar = 10;
constexpr std::size_t longest_bar = 32;
constexpr std::size_t most_header_lines = 6;

const std::string& terminal_name(const Column& column) {
  return column.terminal_name.empty() ? column.name : column.terminal_name;
}

/// Returns the least width in which a header takes that many lines, or as few as it can.
std::size_t header_width(std::string_view name, std::size_t lines) {
  std::size_t width = 0;
  for (const std::string& word : fold(name, 0))
    width = std::max(width, display_width(word));
  while (width < display_width(name) && fold(name, width).size() > lines)
    ++width;
  return width;
}

}  // namespace

TableLayout::TableLayout(const Table& table, const Terminal& terminal) : terminal_(terminal) {
  const Form other_form = terminal.present ? Form::markdown : Form::terminal;
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    if (table.columns[k].form == other_form) continue;
    Placed placed{k, table.columns[k]};
    for (const Row& row : table.rows) {
      placed.has_bars = placed.has_bars || row[k].bar;
      std::size_t& least = placed.column.least_width;
      least = std::max(least, row[k].bar ? least_bar : display_width(row[k].text));
    }
    placed_.push_back(placed);
  }
  if (!terminal.present) return;
  for (std::size_t lines = 1; lines <= most_header_lines; ++lines) {
    for (Placed& placed : placed_)
      placed.width = std::max(placed.column.least_width, header_width(terminal_name(placed.column), lines));
    if (width() <= terminal.columns) break;
  }
  for (Placed& placed : placed_) {
    while (placed.has_bars && placed.width < longest_bar && width() < terminal.columns)
      ++placed.width;
  }
}

std::size_t TableLayout::width() const {
  std::size_t sum = 0;
  for (const Placed& placed : placed_)
    sum += placed.width + (sum > 0 ? gap : 0);
  return sum;
}

std::string TableLayout::header() const {
  if (terminal_.present) return terminal_header();
  std::string names = "|";
  std::string alignments = "|";
  for (const Placed& placed : placed_) {
    names += fmt::format(" {} |", placed.column.name);
    alignments += placed.column.align == Align::left ? ":--|" : "--:|";
  }
  return names + "\n" + alignments + "\n";
}

std::string TableLayout::terminal_header() const {
  std::vector<std::vector<std::string>> names(placed_.back().index + 1);
  std::size_t height = 1;
  std::string rule;
  for (const Placed& placed : placed_) {
    names[placed.index] = fold(terminal_name(placed.column), placed.width);
    height = std::max(height, names[placed.index].size());
    rule += rule.empty() ? "" : std::string(gap, ' ');
    for (std::size_t k = 0; k < placed.width; ++k)
      rule += "─";
  }
  std::string text;
  for (std::size_t left = height; left > 0; --left) {  // headers stand on their rule
    Row row;
    for (const std::vector<std::string>& lines : names)
      row.emplace_back(left <= lines.size() ? lines[lines.size() - left] : "", true);
    text += line(row);
  }
  return text + rule + "\n";
}

std::string TableLayout::row(const Row& row) const {
  if (terminal_.present) return line(row);
  std::string text = "|";
  for (const Placed& placed : placed_) {
    const std::string& cell = row[placed.index].text;
    text += cell.empty() ? " |" : fmt::format(" {} |", cell);
  }
  return text + "\n";
}

std::string TableLayout::line(const Row& row) const {
  std::string line;
  for (const Placed& placed : placed_) {
    const Cell& cell = row[placed.index];
    const std::string text = cell.bar ? draw(*cell.bar, placed.width) : cell.text;
    const std::string shown = cell.strong && !text.empty() ? strong(text, terminal_) : text;
    const std::string spaces(placed.width - std::min(placed.width, display_width(text)), ' ');
    line += placed.column.align == Align::left ? shown + spaces : spaces + shown;
    line += std::string(gap, ' ');
  }
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

std::string to_text(const Table& table, const Terminal& terminal) {
  const TableLayout layout(table, terminal);
  std::string text = layout.header();
  for (const Row& row : table.rows)
    text += layout.row(row);
  return text;
}

}  // namespace reduction
