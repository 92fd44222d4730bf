#include "harness/documented_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/documented_tables_json.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

using Json = nlohmann::json;

template <typename T> std::optional<T> optional_at(const Json& json, const char* key) {
  return json.contains(key) ? std::optional(json.at(key).get<T>()) : std::nullopt;
}

DocumentedFigure read_figure(const Json& json, const char* name_key, double peak_gbps) {
  DocumentedFigure figure;
  figure.name = json.at(name_key);
  figure.gbps = optional_at<double>(json, "gbps");
  const auto stated = optional_at<double>(json, "percent");
  figure.ms = optional_at<double>(json, "ms");
  figure.note = json.value("note", "");
  if (!figure.gbps && !stated) throw std::runtime_error(figure.name + ": neither gbps nor percent");
  figure.percent = figure.gbps ? *figure.gbps / peak_gbps * 100 : *stated;
  // Sources state it in whole percent.
  if (stated && std::abs(*stated - figure.percent) > 0.5) {
    throw std::runtime_error(fmt::format("{}: {} GB/s are {:.1f} % of the peak, not {} %", figure.name,
                                         *figure.gbps, figure.percent, *stated));
  }
  if (!(figure.percent > 0 && figure.percent <= 100))
    throw std::runtime_error(fmt::format("{}: {:.1f} % of the peak", figure.name, figure.percent));
  return figure;
}

DocumentedTable read_table(const std::string& name, const Json& json) {
  DocumentedTable table;
  const Json& source = json.at("source");
  const Json& hardware = json.at("hardware");
  const Json& input = json.at("input");
  table.name = name;
  table.label = json.at("label");
  table.author = source.at("author");
  table.title = source.at("title");
  table.publisher = source.at("publisher");
  table.year = source.at("year");
  table.quotes = json.value("quotes", "");
  table.gpu = hardware.at("name");
  table.peak_gbps = hardware.at("peak_gbps");
  table.peak_from = hardware.value("peak_from", "");
  table.elements = input.at("elements");
  table.type = input.at("type");
  table.block = optional_at<unsigned>(input, "block");
  table.method = json.at("method");
  for (const Json& row : json.at("rows"))
    table.steps.push_back(read_figure(row, "step", table.peak_gbps));
  for (const Json& row : json.value("others", Json::array()))
    table.others.push_back(read_figure(row, "name", table.peak_gbps));
  table.remarks = json.value("remarks", table.remarks);
  return table;
}

}  // namespace

const DocumentedFigure* DocumentedTable::find(std::string_view step) const {
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const DocumentedFigure& figure) { return figure.name == step; });
  return found != steps.end() ? &*found : nullptr;
}

DocumentedTable parse_documented_table(const std::string& name, std::string_view json) {
  try {
    return read_table(name, Json::parse(json));
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("docs/tables/{}.json: {}", name, error.what()));
  }
}

const std::vector<DocumentedTable>& documented_tables() {
  static const std::vector<DocumentedTable> tables = [] {
    std::vector<DocumentedTable> parsed;
    for (const TableFile& file : table_files)
      parsed.push_back(parse_documented_table(file.name, file.json));
    return parsed;
  }();
  return tables;
}

std::vector<DocumentedTable> original_tables() {
  std::vector<DocumentedTable> originals;
  for (const DocumentedTable& table : documented_tables()) {
    if (table.quotes.empty()) originals.push_back(table);
  }
  return originals;
}

std::string documented_text(std::string_view step) {
  std::string text;
  for (const DocumentedTable& table : original_tables()) {
    const DocumentedFigure* const figure = table.find(step);
    if (figure == nullptr) continue;
    if (text.empty()) text = "| published | GPU | input | GB/s | % of peak |\n|:--|:--|:--|--:|--:|\n";
    text += fmt::format("| {} | {} | {} | {} | {} |\n", table.label, table.gpu, input_text(table),
                        figure->gbps ? fmt::format("{}", *figure->gbps) : "–", percent_text(*figure));
  }
  return text;
}

std::string input_text(const DocumentedTable& table) {
  return fmt::format("{} {}{}", count_text(table.elements), table.type,
                     table.block ? fmt::format(", block {}", *table.block) : "");
}

std::string percent_text(const DocumentedFigure& figure) {
  return figure.gbps ? fmt::format("{:.1f}", figure.percent) : fmt::format("{}", figure.percent);
}

}  // namespace reduction
