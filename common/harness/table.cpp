#include "harness/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace reduction {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_bar = 10;
constexpr std::size_t longest_bar = 32;
constexpr std::size_t most_header_lines = 5;

const std::string& terminal_name(const Column& column) {
  return column.terminal_name.empty() ? column.name : column.terminal_name;
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", start), text.size());
    longest = std::max(longest, display_width(text.substr(start, end - start)));
    start = end + 1;
  }
  return longest;
}

/// Returns the least width in which a header takes that many lines, or as few as it can without a broken word.
std::size_t header_width(std::string_view name, std::size_t lines) {
  std::size_t width = longest_word(name);
  while (width < display_width(name) && fold(name, width).size() > lines)
    ++width;
  return width;
}

std::string padded(std::string_view text, std::size_t width, Align align) {
  return align == Align::left ? fmt::format("{:<{}}", text, width) : fmt::format("{:>{}}", text, width);
}

/// Joins what stands beside each other in a line, without spaces at its end.
class Line {
 public:
  void add(std::string_view text, std::size_t width, Align align, const auto& style) {
    const std::string whole = padded(text, width, align);
    const std::size_t start = std::min(whole.find_first_not_of(' '), whole.size());
    const std::size_t end = whole.find_last_not_of(' ') + 1;
    if (start < end) {
      text_ += std::string(spaces_ + start, ' ') + style(whole.substr(start, end - start));
      spaces_ = 0;
    } else {
      spaces_ += start;
    }
    spaces_ += whole.size() - std::max(start, end) + gap;
  }

  std::string text() const { return text_ + "\n"; }

 private:
  std::string text_;
  std::size_t spaces_ = 0;
};

}  // namespace

TableLayout::TableLayout(const Table& table, const Terminal& terminal)
    : columns_(table.columns), terminal_(terminal) {
  if (terminal.present) {
    place(table);
    return;
  }
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    if (columns_[k].form != Form::terminal) placed_.push_back({k, 0});
  }
}

void TableLayout::place(const Table& table) {
  std::vector<Placed> cells;
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    if (columns_[k].form == Form::markdown) continue;
    std::size_t width = std::max(columns_[k].least_width, columns_[k].bars ? least_bar : 0);
    for (const Row& row : table.rows)
      width = std::max(width, display_width(row[k].text));
    cells.push_back({k, width});
  }
  const auto total = [&] {
    std::size_t sum = placed_.empty() ? 0 : (placed_.size() - 1) * gap;
    for (const Placed& placed : placed_)
      sum += placed.width;
    return sum;
  };
  const auto importance = [&](const Placed& a, const Placed& b) {
    return columns_[a.index].expendable < columns_[b.index].expendable;
  };
  for (;;) {
    for (std::size_t lines = 1; lines <= most_header_lines; ++lines) {
      placed_ = cells;
      for (Placed& placed : placed_) {
        placed.width = std::max(placed.width, header_width(terminal_name(columns_[placed.index]), lines));
      }
      if (total() <= terminal_.columns) break;
    }
    if (total() <= terminal_.columns) break;
    const auto least = std::max_element(cells.begin(), cells.end(), importance);
    if (least == cells.end() || columns_[least->index].expendable == 0) break;
    cells.erase(least);
  }
  while (total() > terminal_.columns) {
    const auto widest = std::max_element(placed_.begin(), placed_.end(),
                                         [](const Placed& a, const Placed& b) { return a.width < b.width; });
    if (widest->width <= 1) break;
    --widest->width;
  }
  for (Placed& placed : placed_) {
    if (columns_[placed.index].bars)
      placed.width =
          std::min(std::max(placed.width, longest_bar), placed.width + terminal_.columns - total());
  }
}

std::string TableLayout::header() const {
  if (terminal_.present) return terminal_header();
  std::string names = "|";
  std::string alignments = "|";
  for (const Placed& placed : placed_) {
    const Column& column = columns_[placed.index];
    names += fmt::format(" {} |", column.name);
    alignments += column.align == Align::left ? ":--|" : "--:|";
  }
  return names + "\n" + alignments + "\n";
}

std::string TableLayout::terminal_header() const {
  std::vector<Cell> names;
  for (const Column& column : columns_)
    names.emplace_back(terminal_name(column), true);
  Line rule;
  for (const Placed& placed : placed_) {
    std::string dashes;
    for (std::size_t k = 0; k < placed.width; ++k)
      dashes += "─";
    rule.add(dashes, placed.width, Align::left,
             [&](const std::string& part) { return faint(part, terminal_); });
  }
  return lines_of(names, true) + rule.text();
}

std::string TableLayout::row(const Row& row) const {
  if (terminal_.present) return lines_of(row, false);
  std::string text = "|";
  for (const Placed& placed : placed_) {
    const std::string& cell = row[placed.index].text;
    text += cell.empty() ? " |" : fmt::format(" {} |", cell);
  }
  return text + "\n";
}

std::string TableLayout::lines_of(const Row& row, bool is_header) const {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 0;
  for (const Placed& placed : placed_) {
    const Cell& cell = row[placed.index];
    if (cell.bar) {
      cells.push_back({draw(*cell.bar, placed.width)});
    } else if (is_header || columns_[placed.index].align == Align::left) {
      cells.push_back(fold(cell.text, placed.width));
    } else {
      // Half a number would be another number.
      cells.push_back({cut(cell.text, placed.width)});
    }
    height = std::max(height, cells.back().size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    Line joined;
    for (std::size_t k = 0; k < placed_.size(); ++k) {
      // Headers stand on their rule.
      const std::size_t above = is_header ? height - cells[k].size() : 0;
      const bool is_there = line >= above && line - above < cells[k].size();
      joined.add(is_there ? cells[k][line - above] : "", placed_[k].width, columns_[placed_[k].index].align,
                 [&](const std::string& part) {
                   return row[placed_[k].index].strong ? strong(part, terminal_) : part;
                 });
    }
    text += joined.text();
  }
  return text;
}

std::string to_text(const Table& table, const Terminal& terminal) {
  const TableLayout layout(table, terminal);
  std::string text = layout.header();
  for (const Row& row : table.rows)
    text += layout.row(row);
  return text;
}

std::string to_markdown(const Table& table) { return to_text(table, {}); }

}  // namespace reduction
