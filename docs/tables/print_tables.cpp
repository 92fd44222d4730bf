/// \file
/// Prints the documented tables as Markdown: the generated part of this folder's README. With the name of a step it
/// prints that step's figures.

#include <fmt/format.h>

#include <optional>
#include <string>

#include "harness/documented_tables.hpp"
#include "harness/exit_code.hpp"

namespace reduction {

namespace {

std::string or_dash(const std::optional<double>& number) {
  return number ? fmt::format("{:.5g}", *number) : "–";
}

void print_row(const DocumentedFigure& figure) {
  fmt::print("| {} | {} | {} | {} | {} |\n", figure.name, or_dash(figure.ms), or_dash(figure.gbps),
             percent_text(figure), figure.note);
}

void print_table(const DocumentedTable& table) {
  fmt::print("### {}: {}\n\n", table.label, table.gpu);
  fmt::print("- Source: {}, *{}*, {}, {}. Data: [{}]({})\n", table.author, table.title, table.publisher,
             table.year, table.data.substr(table.data.rfind('/') + 1), table.data);
  fmt::print("- Peak: {} GB/s{}\n", table.peak_gbps,
             table.peak_from.empty() ? "" : fmt::format(" ({})", table.peak_from));
  fmt::print("- Input: {}\n", input_text(table));
  fmt::print("- Method: {}\n\n", table.method);
  fmt::print("| step | ms | GB/s | % of peak | note |\n|:--|--:|--:|--:|:--|\n");
  for (const DocumentedFigure& figure : table.steps)
    print_row(figure);
  for (const DocumentedFigure& figure : table.others)
    print_row(figure);
  fmt::print("\n");
  for (const std::string& remark : table.remarks)
    fmt::print("- {}\n", remark);
  if (!table.remarks.empty()) fmt::print("\n");
}

}  // namespace

}  // namespace reduction

int main(int argc, char** argv) {
  return reduction::exit_code_of("print_tables", [&] {
    if (argc > 1) {
      fmt::print("{}", reduction::documented_text(argv[1]));
      return reduction::ExitCode::verified;
    }
    for (const reduction::DocumentedTable& table : reduction::documented_tables())
      reduction::print_table(table);
    return reduction::ExitCode::verified;
  });
}
