#include "documented_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

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
  table.data = name + ".json";
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

double rounded(double number, double unit) { return std::round(number / unit) * unit; }

DocumentedTable read_measured_table(const std::string& name, const Json& json, const Json& measured,
                                    const Json& ladder) {
  DocumentedTable table;
  const std::string folder = json.at("results");
  const std::string date = measured.at("date");
  const std::string commit = measured.at("commit");
  table.name = name;
  table.label = json.at("label");
  table.data = "../../" + folder + "/ladder.json";
  table.author = "this repository";
  table.title = folder;
  table.publisher = fmt::format("driver {}, CUDA {}, commit {}", measured.at("driver").get<std::string>(),
                                measured.at("cuda").get<std::string>(), commit.substr(0, 12));
  table.year = std::stoi(date);
  table.gpu = measured.at("gpu");
  table.method =
      fmt::format("The median of whole reductions, the L2 emptied by reading before each, by {} on {}.",
                  measured.at("command").get<std::string>(), date);
  for (const Json& result : ladder) {
    if (result.at("device").at("kind") != "cuda") continue;
    if (table.steps.empty()) {
      table.peak_gbps = rounded(result.at("device").at("peak_gbps"), 0.1);
      table.peak_from = "memory clock × bus width × 2 / 8";
      table.elements = result.at("elements");
      table.type = result.at("type");
      table.block = result.at("block").get<unsigned>();
    }
    // It belongs to the input only where all steps have the same; a library has none.
    if (const Json& block = result.at("block"); !block.is_null() && block != table.block) table.block.reset();
    DocumentedFigure figure;
    figure.name = result.at("step");
    figure.gbps = rounded(result.at("gbps"), 0.1);
    figure.percent = *figure.gbps / table.peak_gbps * 100;
    figure.ms = rounded(result.at("ms").at("median"), 0.0001);
    table.steps.push_back(figure);
  }
  return table;
}

/// What `read` makes of the table `name`; its exceptions carry the name of the file.
template <typename Read> DocumentedTable named_read(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const std::exception& error) {
    throw std::runtime_error(fmt::format("docs/tables/{}.json: {}", name, error.what()));
  }
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw std::runtime_error(fmt::format("'{}' cannot be read", file.string()));
  return text.str();
}

}  // namespace

const DocumentedFigure* DocumentedTable::find(std::string_view step) const {
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const DocumentedFigure& figure) { return figure.name == step; });
  return found != steps.end() ? &*found : nullptr;
}

DocumentedTable parse_documented_table(const std::string& name, std::string_view json) {
  return named_read(name, [&] { return read_table(name, Json::parse(json)); });
}

DocumentedTable parse_measured_table(const std::string& name, std::string_view json,
                                     std::string_view measured, std::string_view ladder) {
  return named_read(name, [&] {
    return read_measured_table(name, Json::parse(json), Json::parse(measured), Json::parse(ladder));
  });
}

std::vector<DocumentedTable> read_documented_tables(const std::filesystem::path& repository) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(repository / "docs/tables")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<DocumentedTable> tables;
  for (const std::filesystem::path& file : files) {
    const std::string json = text_of(file);
    // A table of the project's own names the folder of its results; the figures stay there.
    const Json parsed = Json::parse(json, nullptr, false);
    const std::string results = parsed.is_object() ? parsed.value("results", "") : "";
    tables.push_back(results.empty() ? parse_documented_table(file.stem(), json)
                                     : parse_measured_table(file.stem(), json,
                                                            text_of(repository / results / "measured.json"),
                                                            text_of(repository / results / "ladder.json")));
  }
  return tables;
}

std::vector<DocumentedTable> originals_of(const std::vector<DocumentedTable>& tables) {
  std::vector<DocumentedTable> originals;
  for (const DocumentedTable& table : tables) {
    if (table.quotes.empty()) originals.push_back(table);
  }
  return originals;
}

std::string input_text(const DocumentedTable& table) {
  return fmt::format("{} {}{}", count_text(table.elements), table.type,
                     table.block ? fmt::format(", block {}", *table.block) : "");
}

std::string percent_text(const DocumentedFigure& figure) {
  return figure.gbps ? fmt::format("{:.1f}", figure.percent) : fmt::format("{}", figure.percent);
}

}  // namespace reduction
