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
  Cell(std::string cell_text, bool is_strong = false) : text(std::move(cell_text)), strong(is_strong) {}
  Cell(const char* cell_text) : text(cell_text) {}
  Cell(const Bar& cell_bar) : bar(cell_bar) {}

  std::string text;
  bool strong = false;     ///< bold on a terminal
  std::optional<Bar> bar;  ///< instead of a text; its column is one for terminals only
};

using Row = std::vector<Cell>;

enum class Align { left, right };

/// Which form of the table has a column. Those of a terminal are chosen so that they fit into 80 columns of text.
enum class Form { both, markdown, terminal };

struct Column {
  std::string name;
  Align align = Align::right;
  Form form = Form::both;
  std::string terminal_name{};  ///< where a terminal has another; line breaks in it stay
  std::size_t least_width = 0;  ///< on a terminal, for rows that are not there yet
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
    add({"verified", Align::left, Form::both, "sum right"},
        verified ? Cell("yes") : Cell(terminal.present ? "NO" : "**NO**", true));
  }
};

/// A table as it is printed, so that rows may follow one by one. On a terminal headers fold where the columns would be
/// too wide otherwise, and bars take the room that is left.
class TableLayout {
 public:
  /// Takes the widths from the rows that there are and from the least widths.
  TableLayout(const Table& table, const Terminal& terminal);

  std::string header() const;
  std::string row(const Row& row) const;

 private:
  struct Placed {
    std::size_t index;  ///< in the table
    Column column;
    bool has_bars = false;
    std::size_t width = 0;
  };

  /// Returns the columns of text that a line takes on a terminal.
  std::size_t width() const;
  std::string terminal_header() const;
  std::string line(const Row& row) const;

  std::vector<Placed> placed_;
  Terminal terminal_;
};

/// Returns a whole table.
std::string to_text(const Table& table, const Terminal& terminal);

}  // namespace reduction
