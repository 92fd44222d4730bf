#include "harness/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/options.hpp"
#include "harness/published_figures.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

using Json = nlohmann::ordered_json;
using Results = std::vector<Json>;

std::string step_of(const Json& result) { return result.at("step"); }
bool on_gpu(const Json& result) { return result.at("device").at("kind") == "cuda"; }
bool is_01(const Json& result) { return step_of(result).starts_with("01"); }

/// The library that the steps are compared with, run_ladder.sh's last row on a CUDA device.
bool is_cub(const Json& result) { return step_of(result) == "peer_cub"; }

/// Says whether it is a rung of the ladder, whose names begin with a number. The CPU, libraries and atomics are not.
bool is_rung(const Json& result) {
  const std::string step = step_of(result);
  return on_gpu(result) && !step.empty() && step.front() >= '0' && step.front() <= '9';
}

std::optional<double> number(const Json& value) {
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<double> median_ms(const Json& result) {
  return result.at("ms").is_object() ? number(result.at("ms").at("median")) : std::nullopt;
}

std::string or_dash(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "–";
}

/// Says whether a result is right, and those of the step's other ways to sum, such as the tree beside 00's running sum.
bool is_verified(const Json& result) {
  const Json others = result.value("other_variants", Json::array());
  return result.at("verified").get<bool>() && std::all_of(others.begin(), others.end(), is_verified);
}

std::string verified(const Json& result) { return is_verified(result) ? "yes" : "**NO**"; }

/// Says whether two results are sums of as many elements of the same type.
bool same_input(const Json& a, const Json& b) {
  return a.at("type") == b.at("type") && a.at("elements") == b.at("elements");
}

bool same_block(const Json& a, const Json& b) { return a.at("block") == b.at("block"); }

/// Finds the nearest step before results[k] that is accepted and has the same input; of its results, the one in blocks
/// of the same size if there is one. Null if there is no such step.
template <typename Accept>
const Json* find_before(const Results& results, std::size_t k, const Accept& accepts) {
  const Json& result = results[k];
  const Json* found = nullptr;
  while (k-- > 0) {
    const Json& other = results[k];
    if (step_of(other) == step_of(result) || !same_input(other, result) || !accepts(other)) continue;
    if (found != nullptr && step_of(other) != step_of(*found)) break;
    if (found == nullptr || same_block(other, result)) found = &other;
    if (same_block(*found, result)) break;
  }
  return found;
}

/// Returns the median time of `slow` as a multiple of that of `fast`.
std::optional<double> ratio(const Json* slow, const Json* fast) {
  if (slow == nullptr || fast == nullptr || !median_ms(*slow) || !median_ms(*fast)) return std::nullopt;
  return *median_ms(*slow) / *median_ms(*fast);
}

/// Says whether every step has one result, all of them of one type and number of elements: no sweep.
bool same_configuration(const Results& results) {
  std::vector<std::string> steps;
  for (const Json& result : results) {
    if (!same_input(result, results.front())) return false;
    if (std::find(steps.begin(), steps.end(), step_of(result)) != steps.end()) return false;
    steps.push_back(step_of(result));
  }
  return true;
}

/// What the results differ in beside their step, as cells of a row: nothing, or in a sweep type, elements and block.
class Configurations {
 public:
  explicit Configurations(const Results& results) : several_(!same_configuration(results)) {}

  std::string names() const { return several_ ? " type | elements | block |" : ""; }
  std::string alignments() const { return several_ ? ":--|--:|--:|" : ""; }
  std::string cells(const Json& result) const {
    if (!several_) return "";
    const Json& block = result.at("block");
    return fmt::format(" {} | {} | {} |", result.at("type").get<std::string>(),
                       count_text(result.at("elements").get<std::uint64_t>()),
                       block.is_null() ? "–" : block.dump());
  }

 private:
  bool several_;
};

/// Adds up the counters with these names.
double count(const Json& result, const std::vector<const char*>& names) {
  double sum = 0;
  for (const char* name : names)
    sum += result.at("counters").at(name).get<double>();
  return sum;
}

/// Returns the counters that tell the steps apart; dashes if nothing was counted.
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

std::string published_cell(const PublishedTable& table, const std::string& step) {
  const PublishedFigure* const figure = find_published(table, step);
  if (figure == nullptr) return "–";
  return figure->gbps.empty() ? std::string(figure->percent)
                              : fmt::format("{} ({})", figure->percent, figure->gbps);
}

/// Returns the table of results that the emulated device counted.
std::string counted_ladder(const Results& results) {
  const Configurations configurations(results);
  std::string text = fmt::format(
      "| step |{} passes | blocks | block barriers per block | shared requests per block | lanes per request "
      "| "
      "wavefronts per block | wavefronts per element | verified |\n",
      configurations.names());
  text += fmt::format("|:--|{}--:|--:|--:|--:|--:|--:|--:|:--|\n", configurations.alignments());
  for (const Json& result : results) {
    const Json& passes = result.at("passes");
    std::uint64_t blocks = 0;
    for (const Json& pass : passes)
      blocks += pass.at("blocks").get<std::uint64_t>();
    text += fmt::format("| {} |{} {} | {} |{} {} |\n", step_of(result), configurations.cells(result),
                        passes.empty() ? "–" : fmt::to_string(passes.size()),
                        passes.empty() ? "–" : fmt::to_string(blocks),
                        counter_cells(result, static_cast<double>(blocks)), verified(result));
  }
  return text;
}

/// Returns the same steps on the cards of the published tables, beside this one if it was timed.
std::string published_ladder(const Results& results) {
  const auto timed = std::find_if(results.begin(), results.end(), on_gpu);
  const std::vector<PublishedTable> tables = published_tables();
  std::string names = "| step |";
  std::string alignments = "|:--|";
  if (timed != results.end()) {
    names += fmt::format(" here: {} |", timed->at("device").at("name").get<std::string>());
    alignments += "--:|";
  }
  for (const PublishedTable& table : tables) {
    names += fmt::format(" {}: {}, {} |", table.label, table.gpu, table.input);
    alignments += "--:|";
  }
  std::string text = names + "\n" + alignments + "\n";
  for (const Json& result : results) {
    // Step 00 runs on no card.
    if (result.at("device").at("kind") == "cpu") continue;
    text += fmt::format("| {} |", step_of(result));
    if (timed != results.end()) {
      text += fmt::format(" {} ({}) |", or_dash(number(result.at("percent_of_peak")), 1),
                          or_dash(number(result.at("gbps")), 1));
    }
    for (const PublishedTable& table : tables)
      text += fmt::format(" {} |", published_cell(table, step_of(result)));
    text += "\n";
  }
  return text;
}

/// Throws nlohmann's exceptions for results of another shape.
Ladder make_ladder(const Results& results) {
  const bool counted = std::any_of(results.begin(), results.end(), [](const Json& result) {
    return result.at("device").at("kind") == "emulated";
  });
  Ladder ladder{counted ? counted_ladder(results) : timed_ladder(results), Json(results).dump(2) + '\n',
                std::all_of(results.begin(), results.end(), is_verified)};
  if (same_configuration(results)) {
    ladder.tables +=
        fmt::format("\nDocumented figures, % of each card's peak (GB/s); sources in docs/tables:\n\n{}",
                    published_ladder(results));
  }
  return ladder;
}

/// Reads a --json file. A sweep's is a list of results.
Json read_result(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw UsageError(fmt::format("'{}' cannot be read; give the --json files of the steps", file));
  try {
    return Json::parse(stream);
  } catch (const Json::parse_error& error) {
    throw UsageError(fmt::format("'{}' is no JSON file of a step: {}", file, error.what()));
  }
}

}  // namespace

std::string timed_ladder(const Results& results) {
  const Configurations configurations(results);
  const bool has_cub = std::any_of(results.begin(), results.end(), is_cub);
  std::string text = fmt::format("| step |{} ms | GB/s | % of peak | × previous | × 01 |{} verified |\n",
                                 configurations.names(), has_cub ? " % of CUB |" : "");
  text +=
      fmt::format("|:--|{}--:|--:|--:|--:|--:|{}:--|\n", configurations.alignments(), has_cub ? "--:|" : "");
  for (std::size_t k = 0; k < results.size(); ++k) {
    const Json& result = results[k];
    std::optional<double> times_previous;
    std::optional<double> times_01;
    std::string share_of_cub = has_cub ? " – |" : "";
    if (is_rung(result)) times_previous = ratio(find_before(results, k, is_rung), &result);
    if (on_gpu(result)) {
      times_01 = ratio(is_01(result) ? &result : find_before(results, k, is_01), &result);
      const auto cub = std::find_if(results.begin(), results.end(), [&](const Json& other) {
        return is_cub(other) && same_input(other, result);
      });
      if (const auto of_cub = ratio(cub != results.end() ? &*cub : nullptr, &result))
        share_of_cub = fmt::format(" {:.1f} |", *of_cub * 100);
    }
    text +=
        fmt::format("| {} |{} {} | {} | {} | {} | {} |{} {} |\n", step_of(result),
                    configurations.cells(result), or_dash(median_ms(result), 4),
                    or_dash(number(result.at("gbps")), 1), or_dash(number(result.at("percent_of_peak")), 1),
                    or_dash(times_previous, 2), or_dash(times_01, 2), share_of_cub, verified(result));
  }
  return text;
}

Ladder read_ladder(const std::vector<std::string>& files) {
  Results results;
  for (const std::string& file : files) {
    const Json document = read_result(file);
    if (document.is_array()) {
      results.insert(results.end(), document.begin(), document.end());
    } else {
      results.push_back(document);
    }
  }
  if (results.empty())
    throw UsageError("there is no result in these files; give the --json files of the steps");
  try {
    return make_ladder(results);
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("a result in these files is not one of a step: {}", error.what()));
  }
}

}  // namespace reduction
