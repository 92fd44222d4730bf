/// \file
/// Puts the --json files of the steps, given in step order, into one Markdown table, and beside the documented figures
/// into a second one. run_ladder.sh ends with them.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/documented_tables.hpp"
#include "harness/exit_code.hpp"
#include "harness/json_report.hpp"
#include "harness/options.hpp"
#include "harness/text_options.hpp"
#include "harness/units.hpp"

namespace {

using Json = nlohmann::ordered_json;

Json read_result(const std::string& file) {
  std::ifstream stream(file);
  if (!stream)
    throw reduction::UsageError(fmt::format("'{}' cannot be read; give the --json files of the steps", file));
  try {
    return Json::parse(stream);
  } catch (const Json::parse_error& error) {
    throw reduction::UsageError(fmt::format("'{}' is no JSON file of a step: {}", file, error.what()));
  }
}

std::optional<double> number(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<double> median_ms(const Json& result) {
  return result.at("ms").is_object() ? number(result.at("ms").at("median")) : std::nullopt;
}

std::string or_dash(const std::optional<double>& value, const char* format) {
  return value ? fmt::format(fmt::runtime(format), *value) : "–";
}

/// How many times faster `result` is than `before`.
std::string speed_up(const Json* before, const Json& result) {
  if (before == nullptr || !median_ms(*before) || !median_ms(result)) return "–";
  return fmt::format("{:.2f}", *median_ms(*before) / *median_ms(result));
}

/// Of a result and of the step's other ways to sum, such as the tree beside step 00's running sum.
bool is_verified(const Json& result) {
  const Json others = result.value("other_variants", Json::array());
  return result.at("verified").get<bool>() && std::all_of(others.begin(), others.end(), is_verified);
}

std::string verified(const Json& result) { return is_verified(result) ? "yes" : "**NO**"; }

/// What the results differ in beside their step, as cells of a row: nothing, or in a sweep type, elements and block.
class Configurations {
 public:
  explicit Configurations(const std::vector<Json>& results) {
    for (const Json& result : results) {
      if (!result.at("block").is_null()) several_ = several_ || !same(result, results.back());
    }
  }

  bool several() const { return several_; }
  std::string names() const { return several_ ? " type | elements | block |" : ""; }
  std::string alignments() const { return several_ ? ":--|--:|--:|" : ""; }
  std::string cells(const Json& result) const {
    if (!several_) return "";
    const Json& block = result.at("block");
    return fmt::format(" {} | {} | {} |", result.at("type").get<std::string>(),
                       reduction::count_text(result.at("elements").get<std::uint64_t>()),
                       block.is_null() ? "–" : block.dump());
  }

  /// Whether two results summed the same in the same blocks; step 00 has no blocks.
  static bool same(const Json& a, const Json& b) {
    return a.at("type") == b.at("type") && a.at("elements") == b.at("elements") &&
           (a.at("block") == b.at("block") || a.at("block").is_null() || b.at("block").is_null());
  }

 private:
  bool several_ = false;
};

/// The last result before `end` of the same configuration, of a step that `accepts`; null where there is none.
template <typename Accept>
const Json* find_before(const std::vector<Json>& results, std::size_t end, const Accept& accepts) {
  for (std::size_t k = end; k-- > 0;) {
    const bool other_step = results[k].at("step") != results[end].at("step");
    if (other_step && Configurations::same(results[k], results[end]) && accepts(results[k]))
      return &results[k];
  }
  return nullptr;
}

/// The library that the steps are compared with, run_ladder.sh's last row on a CUDA device.
bool is_cub(const Json& result) { return result.at("step") == "peer_cub"; }

/// The step's share of the library's bandwidth, as a cell: nothing where the library was not run.
std::string share_of_cub(const std::vector<Json>& results, const Json& result) {
  if (std::none_of(results.begin(), results.end(), is_cub)) return "";
  const auto cub = std::find_if(results.begin(), results.end(), [&](const Json& other) {
    return is_cub(other) && Configurations::same(other, result);
  });
  if (cub == results.end() || !median_ms(*cub) || !median_ms(result)) return " – |";
  return fmt::format(" {:.1f} |", *median_ms(*cub) / *median_ms(result) * 100);
}

void print_timed(const std::vector<Json>& results, std::FILE* out) {
  const Configurations configurations(results);
  const bool has_cub = std::any_of(results.begin(), results.end(), is_cub);
  fmt::print(out, "| step |{} ms | GB/s | % of peak | × previous | × 01 |{} verified |\n",
             configurations.names(), has_cub ? " % of CUB |" : "");
  fmt::print(out, "|:--|{}--:|--:|--:|--:|--:|{}:--|\n", configurations.alignments(), has_cub ? "--:|" : "");
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Json& result = results[k];
    const auto is_01 = [](const Json& other) {
      return other.at("step").get<std::string>().starts_with("01");
    };
    const Json* const previous = find_before(results, k, [](const Json&) { return true; });
    const Json* const first = is_01(result) ? &result : find_before(results, k, is_01);
    fmt::print(out, "| {} |{} {} | {} | {} | {} | {} |{} {} |\n", result.at("step").get<std::string>(),
               configurations.cells(result), or_dash(median_ms(result), "{:.4f}"),
               or_dash(number(result.at("gbps")), "{:.1f}"),
               or_dash(number(result.at("percent_of_peak")), "{:.1f}"), speed_up(previous, result),
               speed_up(first, result), share_of_cub(results, result), verified(result));
  }
}

/// A counter of a run on the emulated device: the sum of those whose names are given.
double count(const Json& result, const std::vector<const char*>& names) {
  double sum = 0;
  for (const char* name : names)
    sum += result.at("counters").at(name).get<double>();
  return sum;
}

/// The counters that tell the steps apart; dashes where nothing was counted.
std::string counter_cells(const Json& result, double blocks) {
  if (result.at("counters").is_null()) return " – | – | – | – | – |";
  const double requests = count(result, {"shared_load_requests", "shared_store_requests"});
  const double wavefronts = count(result, {"shared_load_wavefronts", "shared_store_wavefronts"});
  const double lanes = count(result, {"shared_load_lanes", "shared_store_lanes"});
  const double elements = std::max(1.0, result.at("elements").get<double>());
  return fmt::format(" {:.4g} | {:.4g} | {:.2f} | {:.4g} | {:.4f} |",
                     count(result, {"block_barriers"}) / blocks, requests / blocks,
                     requests > 0 ? lanes / requests : 0.0, wavefronts / blocks, wavefronts / elements);
}

void print_emulated(const std::vector<Json>& results, std::FILE* out) {
  const Configurations configurations(results);
  fmt::print(
      out,
      "| step |{} passes | blocks | block barriers a block | shared requests a block | lanes a request | "
      "wavefronts a block | wavefronts an element | verified |\n",
      configurations.names());
  fmt::print(out, "|:--|{}--:|--:|--:|--:|--:|--:|--:|:--|\n", configurations.alignments());
  for (const Json& result : results) {
    const Json& passes = result.at("passes");
    std::uint64_t blocks = 0;
    for (const Json& pass : passes)
      blocks += pass.at("blocks").get<std::uint64_t>();
    fmt::print(out, "| {} |{} {} | {} |{} {} |\n", result.at("step").get<std::string>(),
               configurations.cells(result), passes.empty() ? "–" : fmt::to_string(passes.size()),
               passes.empty() ? "–" : fmt::to_string(blocks),
               counter_cells(result, static_cast<double>(blocks)), verified(result));
  }
}

std::string published_cell(const reduction::DocumentedTable& table, const std::string& step) {
  const reduction::DocumentedFigure* const figure = table.find(step);
  if (figure == nullptr) return "–";
  return percent_text(*figure) + (figure->gbps ? fmt::format(" ({:.5g})", *figure->gbps) : "");
}

std::string measured_cell(const Json& result) {
  return fmt::format("{} ({})", or_dash(number(result.at("percent_of_peak")), "{:.1f}"),
                     or_dash(number(result.at("gbps")), "{:.1f}"));
}

/// The same steps on the cards of the documented tables, beside this one where it was timed.
void print_published(const std::vector<Json>& results, std::FILE* out) {
  const auto on_gpu = [](const Json& result) { return result.at("device").at("kind") == "cuda"; };
  const auto timed = std::find_if(results.begin(), results.end(), on_gpu);
  const std::vector<reduction::DocumentedTable> tables = reduction::original_tables();
  std::string names = "| step |";
  std::string alignments = "|:--|";
  if (timed != results.end()) {
    names += fmt::format(" here: {} |", timed->at("device").at("name").get<std::string>());
    alignments += "--:|";
  }
  for (const reduction::DocumentedTable& table : tables) {
    names += fmt::format(" {}: {}, {} |", table.label, table.gpu, input_text(table));
    alignments += "--:|";
  }
  fmt::print(out, "\nDocumented figures, % of each card's peak (GB/s); sources in docs/tables:\n\n{}\n{}\n",
             names, alignments);
  for (const Json& result : results) {
    // Step 00 runs on no card.
    if (result.at("device").at("kind") == "cpu") continue;
    const std::string step = result.at("step");
    std::string row = fmt::format("| {} |", step);
    if (timed != results.end()) row += fmt::format(" {} |", measured_cell(result));
    for (const reduction::DocumentedTable& table : tables)
      row += fmt::format(" {} |", published_cell(table, step));
    fmt::print(out, "{}\n", row);
  }
}

reduction::ExitCode run(const std::vector<std::string>& files, const std::string& json_file) {
  std::vector<Json> results;
  for (const std::string& file : files) {
    const Json document = read_result(file);
    // A sweep's file is a list of results.
    if (document.is_array()) {
      results.insert(results.end(), document.begin(), document.end());
    } else {
      results.push_back(document);
    }
  }
  // Before the tables, whose reader may be gone.
  reduction::JsonFile(json_file).write(Json(results));
  std::FILE* const out = json_file == "-" ? stderr : stdout;
  const bool emulated = std::any_of(results.begin(), results.end(), [](const Json& result) {
    return result.at("device").at("kind") == "emulated";
  });
  emulated ? print_emulated(results, out) : print_timed(results, out);
  if (!Configurations(results).several()) print_published(results, out);
  return std::all_of(results.begin(), results.end(), is_verified) ? reduction::ExitCode::verified
                                                                  : reduction::ExitCode::wrong_result;
}

}  // namespace

int main(int argc, char** argv) {
  return reduction::exit_code_of("ladder_table", [&] {
    CLI::App app("Puts the --json files of the steps into one Markdown table.", "ladder_table");
    std::vector<std::string> files;
    std::string json_file;
    app.add_option("files", files, "the steps' --json files, in step order")->required();
    app.add_option("--json", json_file, "FILE: also write all results there, as one list; - for stdout");
    const std::string answer = reduction::read_command_line(app, argc, argv);
    if (!answer.empty()) {
      fmt::print("{}", answer);
      return reduction::ExitCode::verified;
    }
    return run(files, json_file);
  });
}
