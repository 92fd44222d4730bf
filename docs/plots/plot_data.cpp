/// \file
/// Turns folders of measured results, one a card, into what the gnuplot scripts in this folder read:
///
///   DATA/<card>/<name>.tsv   a row for each result of <name>.json; the cards are numbered from 1
///   DATA/cards.gnuplot       the cards, their peaks, and which steps and types there are
///
/// plot.sh runs it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/options.hpp"
#include "harness/text_options.hpp"
#include "harness/units.hpp"

namespace {

using Json = nlohmann::json;
using reduction::UsageError;

/// The files of results in a card's folder, without their ending.
constexpr std::array names{"ladder", "sweep_block", "sweep_size", "sweep_type"};

/// What a plot shows of one result.
struct Row {
  std::string step;
  bool on_gpu = false;
  std::string type;
  std::uint64_t elements = 0;
  std::optional<unsigned> block;  ///< none on the CPU and for a library
  double ms = 0;                  ///< the median
  double gbps = 0;
};

struct Card {
  std::string name;
  std::string measured;  ///< when and with what
  double peak_gbps = 0;
  std::map<std::string_view, std::vector<Row>> rows;  ///< by the file's name
};

// ---- reading ----

/// What `read` makes of the file's JSON. Throws UsageError where it is no JSON or `read` does not find what it needs.
template <typename Read> auto read_json(const std::filesystem::path& file, const Read& read) {
  std::ifstream stream(file);
  if (!stream) {
    throw UsageError(fmt::format("'{}' cannot be read; a folder of results has measured.json and {}.json",
                                 file.string(), fmt::join(names, ".json, ")));
  }
  try {
    return read(Json::parse(stream));
  } catch (const Json::exception& error) {
    throw UsageError(
        fmt::format("'{}' has no results as --json writes them: {}", file.string(), error.what()));
  }
}

Row read_row(const Json& result) {
  Row row;
  row.step = result.at("step");
  const auto fail = [&](std::string_view what) {
    throw UsageError(fmt::format("{} {}; a plot takes verified results with times", row.step, what));
  };
  if (!result.at("verified").get<bool>()) fail("has a wrong sum");
  if (result.at("ms").is_null() || result.at("gbps").is_null()) fail("has no time");
  row.on_gpu = result.at("device").at("kind") == "cuda";
  row.type = result.at("type");
  row.elements = result.at("elements");
  if (!result.at("block").is_null()) row.block = result.at("block").get<unsigned>();
  row.ms = result.at("ms").at("median");
  row.gbps = result.at("gbps");
  return row;
}

std::vector<Row> read_rows(const std::filesystem::path& file) {
  return read_json(file, [&](const Json& results) {
    std::vector<Row> rows;
    std::transform(results.begin(), results.end(), std::back_inserter(rows), read_row);
    if (rows.empty()) throw UsageError(fmt::format("'{}' has no result", file.string()));
    return rows;
  });
}

/// The peak of the GPU that ran the steps, in GB/s.
double read_peak(const std::filesystem::path& file) {
  return read_json(file, [&](const Json& results) {
    for (const Json& result : results) {
      const Json& device = result.at("device");
      if (device.at("kind") == "cuda" && !device.at("peak_gbps").is_null())
        return device.at("peak_gbps").get<double>();
    }
    throw UsageError(fmt::format("'{}' has no result of a GPU whose peak is known", file.string()));
  });
}

Card read_card(const std::filesystem::path& folder) {
  Card card;
  read_json(folder / "measured.json", [&](const Json& measured) {
    card.name = measured.at("gpu");
    card.measured =
        fmt::format("CUDA {}, driver {}, {}", measured.at("cuda").get<std::string>(),
                    measured.at("driver").get<std::string>(), measured.at("date").get<std::string>());
  });
  for (const std::string_view name : names)
    card.rows[name] = read_rows(folder / fmt::format("{}.json", name));
  card.peak_gbps = read_peak(folder / "ladder.json");
  return card;
}

// ---- what there is to plot ----

using Texts = std::vector<std::string>;

/// What `text` says of each row of a file, of all cards, once each, in the order of the rows.
Texts distinct(const std::vector<Card>& cards, std::string_view name,
               const std::function<std::string(const Row&)>& text) {
  Texts texts;
  for (const Card& card : cards) {
    for (const Row& row : card.rows.at(name)) {
      if (std::find(texts.begin(), texts.end(), text(row)) == texts.end()) texts.push_back(text(row));
    }
  }
  return texts;
}

/// By their numbers; libraries, which have none, come last.
Texts steps_of(const std::vector<Card>& cards, std::string_view name) {
  Texts steps = distinct(cards, name, [](const Row& row) { return row.step; });
  std::sort(steps.begin(), steps.end());
  return steps;
}

/// As far as it is the same in all rows: "2^28 int32".
std::string input_text(const std::vector<Card>& cards, std::string_view name) {
  const Texts elements =
      distinct(cards, name, [](const Row& row) { return reduction::count_text(row.elements); });
  const Texts types = distinct(cards, name, [](const Row& row) { return row.type; });
  Texts same;
  if (elements.size() == 1) same.push_back(elements.front());
  if (types.size() == 1) same.push_back(types.front());
  return fmt::format("{}", fmt::join(same, " "));
}

// ---- writing ----

/// A string of gnuplot's that means what it says.
std::string string_literal(std::string_view text) {
  std::string string = "'";
  for (const char c : text) {
    if (c == '\'') string += c;
    string += std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
  }
  return string + "'";
}

/// An array of gnuplot's with an element for each card.
template <typename Text>
std::string array_text(const char* name, const std::vector<Card>& cards, const Text& text) {
  Texts elements;
  std::transform(cards.begin(), cards.end(), std::back_inserter(elements), text);
  return fmt::format("array {}[{}] = [{}]\n", name, cards.size(), fmt::join(elements, ", "));
}

std::string cards_text(const std::vector<Card>& cards) {
  std::string text = "# Made by plot_data: what the plots show.\n";
  text += fmt::format("cards = {}\n", cards.size());
  text += array_text("card_name", cards, [](const Card& card) { return string_literal(card.name); });
  text += array_text("measured", cards, [](const Card& card) { return string_literal(card.measured); });
  text +=
      array_text("peak_gbps", cards, [](const Card& card) { return fmt::format("{:.1f}", card.peak_gbps); });
  std::set<std::string> libraries;
  for (const char* name : names) {
    const Texts steps = steps_of(cards, name);
    std::copy_if(
        steps.begin(), steps.end(), std::inserter(libraries, libraries.end()),
        [](const std::string& step) { return std::isdigit(static_cast<unsigned char>(step[0])) == 0; });
    text += fmt::format("{}_steps = {}\n", name, string_literal(fmt::format("{}", fmt::join(steps, " "))));
    text += fmt::format("{}_input = {}\n", name, string_literal(input_text(cards, name)));
  }
  text += fmt::format("libraries = {}\n", string_literal(fmt::format("{}", fmt::join(libraries, " "))));
  const Texts types = distinct(cards, "sweep_type", [](const Row& row) { return row.type; });
  text += fmt::format("types = {}\n", string_literal(fmt::format("{}", fmt::join(types, " "))));
  return text;
}

std::string rows_text(const std::vector<Row>& rows) {
  std::string text = "# step\ttype\telements\tblock\tms\tgbps\n";
  for (const Row& row : rows) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", row.step, row.type, row.elements,
                        row.block ? fmt::format("{}", *row.block) : "NaN", row.ms, row.gbps);
  }
  return text;
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream stream(file);
  stream << text << std::flush;
  if (!stream) throw std::runtime_error(fmt::format("writing '{}' failed", file.string()));
}

void write_all(const std::filesystem::path& data, const std::vector<std::string>& folders) {
  std::vector<Card> cards;
  std::transform(folders.begin(), folders.end(), std::back_inserter(cards), read_card);
  // Several cards are compared by the share of their own peaks, and a CPU has none of a card's.
  if (cards.size() > 1) {
    for (Card& card : cards)
      std::erase_if(card.rows["ladder"], [](const Row& row) { return !row.on_gpu; });
  }
  for (std::size_t k = 0; k < cards.size(); ++k) {
    for (const std::string_view name : names)
      write(data / fmt::format("{}/{}.tsv", k + 1, name), rows_text(cards[k].rows[name]));
  }
  write(data / "cards.gnuplot", cards_text(cards));
}

}  // namespace

int main(int argc, char** argv) {
  return reduction::exit_code_of("plot_data", [&] {
    reduction::TextOptions app("plot_data", "Turns folders of measured results into data for gnuplot.");
    std::string data;
    std::vector<std::string> folders;
    app.add_argument("data", "the folder to write to", data);
    app.add_arguments("results", "folders of results, one per card", folders);
    const std::string answer = app.read(argc, argv);
    if (!answer.empty()) {
      fmt::print("{}", answer);
      return reduction::ExitCode::verified;
    }
    write_all(data, folders);
    return reduction::ExitCode::verified;
  });
}
