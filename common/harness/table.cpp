#include "harness/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace reduction {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_bar = 10;
constexpr std::size_t longest_bar = 32;

/// Returns the columns of text that a line takes on a terminal.
std::size_t width_of(const std::vector<Column>& columns) {
  std::size_t width = gap * (columns.size() - 1);
  for (const Column& column : columns)
    width += column.width;
  return width;
}

}  // namespace

TableLayout::TableLayout(const Table& table, const Terminal& terminal)
    : columns_(table.columns), terminal_(terminal) {
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    std::size_t& width = columns_[k].width;
    for (const std::string& word : fold(columns_[k].name, 0))
      width = std::max(width, display_width(word));
    for (const Row& row : table.rows)
      width = std::max(width, row[k].bar ? least_bar : display_width(row[k].text));
  }
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const bool has_bars =
        std::ranges::any_of(table.rows, [&](const Row& row) { return row[k].bar.has_value(); });
    while (has_bars && columns_[k].width < longest_bar && width_of(columns_) < terminal.columns)
      ++columns_[k].width;
  }
}

std::string TableLayout::header() const {
  if (terminal_.present) return terminal_header();
  std::string names = "|";
  std::string alignments = "|";
  for (const Column& column : columns_) {
    names += fmt::format(" {} |", column.name);
    alignments += column.align == Align::left ? ":--|" : "--:|";
  }
  return names + "\n" + alignments + "\n";
}

std::string TableLayout::terminal_header() const {
  std::vector<std::vector<std::string>> names;
  Row rule;
  std::size_t height = 1;
  for (const Column& column : columns_) {
    names.push_back(fold(column.name, column.width));
    rule.emplace_back(fmt::format("{:─<{}}", "", column.width));
    height = std::max(height, names.back().size());
  }
  std::string text;
  for (std::size_t left = height; left > 0; --left) {  // headers stand on their rule
    Row row;
    for (const std::vector<std::string>& lines : names)
      row.emplace_back(left <= lines.size() ? strong(lines[lines.size() - left], terminal_) : "");
    text += line(row);
  }
  return text + line(rule);
}

std::string TableLayout::row(const Row& row) const {
  if (terminal_.present) return line(row);
  std::string text = "|";
  for (const Cell& cell : row)
    text += cell.text.empty() ? " |" : fmt::format(" {} |", cell.text);
  return text + "\n";
}

std::string TableLayout::line(const Row& row) const {
  std::string line;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    const auto& [name, align, width] = columns_[k];
    const std::string text = row[k].bar ? draw(*row[k].bar, width) : row[k].text;
    const std::string spaces(width - std::min(width, display_width(text)), ' ');
    line += align == Align::left ? text + spaces : spaces + text;
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
