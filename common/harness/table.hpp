#pragma once
/// \file
/// A table, and its two forms: Markdown for files and pages, aligned columns for a terminal.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/terminal.hpp"

namespace reduction {

struct Cell {
  Cell() = default;
  Cell(std::string cell_text) : text(std::move(cell_text)) {}
  Cell(const char* cell_text) : text(cell_text) {}
  Cell(const Bar& cell_bar) : bar(cell_bar) {}

  std::string text;
  std::optional<Bar> bar;  ///< instead of a text, for a terminal only
};

using Row = std::vector<Cell>;

enum class Align { left, right };

struct Column {
  std::string name;
  Align align = Align::right;
  std::size_t width = 0;  ///< on a terminal the least, for rows that are not there yet
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;  ///< each has a cell for each column

  /// Begins a row. Each names its columns anew, beside their cells.
  void begin_row() {
    columns.clear();
    rows.emplace_back();
  }

  void add(const Column& column, const Cell& cell) {
    columns.push_back(column);
    rows.back().push_back(cell);
  }

  /// Adds the column that says whether a result is right.
  void add_verified(bool verified, const Terminal& terminal) {
    if (terminal.present)
      add({"right", Align::left}, verified ? green("yes", terminal) : red("NO", terminal));
    else
      add({"verified", Align::left}, verified ? "yes" : "**NO**");
  }
};

/// A table as it is printed, so that rows may follow one by one. On a terminal a column is as wide as its cells or the
/// longest word of its name, which is folded, and bars take the room that is left.
class TableLayout {
 public:
  /// Takes the widths from the rows that there are and from the least widths.
  TableLayout(const Table& table, const Terminal& terminal);

  std::string header() const;
  std::string row(const Row& row) const;

 private:
  std::string terminal_header() const;
  std::string line(const Row& row) const;

  std::vector<Column> columns_;
  Terminal terminal_;
};

/// Returns a whole table.
std::string to_text(const Table& table, const Terminal& terminal);

}  // namespace reduction
