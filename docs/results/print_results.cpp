/// \file
/// Prints what measure.sh has measured on a GPU as Markdown: the page of its folder, or one table of it for another page.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "documented_tables.hpp"
#include "harness/exit_code.hpp"
#include "harness/ladder.hpp"
#include "harness/options.hpp"
#include "harness/statistics.hpp"
#include "harness/units.hpp"
#include "peer_tables.hpp"

namespace reduction {

namespace {

using Json = nlohmann::ordered_json;
using Results = std::vector<Json>;

/// A file of the results' folder. Throws UsageError where it is no JSON.
Json read(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream)
    throw UsageError(
        fmt::format("'{}' cannot be read: name a folder that measure.sh has filled", file.string()));
  try {
    return Json::parse(stream);
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("'{}' is no JSON: {}", file.string(), error.what()));
  }
}

Results read_list(const std::filesystem::path& folder, const char* name) {
  return read(folder / (std::string(name) + ".json")).get<Results>();
}

/// The same of a file that not every card has: nothing where it is missing.
Results read_list_if_there(const std::filesystem::path& folder, const char* name) {
  return std::filesystem::exists(folder / (std::string(name) + ".json")) ? read_list(folder, name)
                                                                         : Results();
}

/// On a page that has a place for a section, what stands there where its results are missing.
template <std::string (*print)(const std::filesystem::path&)>
std::string or_none(const std::filesystem::path& folder) {
  const std::string text = print(folder);
  return text.empty() ? "No results are committed yet.\n" : text;
}

std::string step_of(const Json& result) { return result.at("step"); }
std::string type_of(const Json& result) { return result.at("type"); }
std::string elements_of(const Json& result) { return count_text(result.at("elements").get<std::uint64_t>()); }
double median_ms(const Json& result) { return result.at("ms").at("median"); }
double gbps(const Json& result) { return result.at("gbps"); }
bool on_gpu(const Json& result) { return result.at("device").at("kind") == "cuda"; }

std::string number_or_dash(const Json& value, int digits) {
  return value.is_number() ? fmt::format("{:.{}f}", value.get<double>(), digits) : "–";
}

const Json* find(const Results& results, const std::function<bool(const Json&)>& accepts) {
  const auto found = std::find_if(results.begin(), results.end(), accepts);
  return found != results.end() ? &*found : nullptr;
}

/// Where and how it was measured, in a sentence.
std::string provenance(const std::filesystem::path& folder) {
  const Json measured = read(folder / "measured.json");
  const auto text = [&](const char* key) { return measured.at(key).get<std::string>(); };
  return fmt::format("Measured on one {} with driver {} and CUDA {}, {}, by `{}` at commit `{}`.\n",
                     text("gpu"), text("driver"), text("cuda"), text("date"), text("command"),
                     text("commit").substr(0, 12));
}

/// The ladder as ladder_table prints it.
std::string ladder(const std::filesystem::path& folder) {
  const Results results = read_list(folder, "ladder");
  const auto is_cub = [](const Json& result) { return step_of(result) == "peer_cub"; };
  if (find(results, on_gpu) == nullptr || find(results, is_cub) == nullptr)
    throw UsageError("ladder.json: there is no GPU's step in it, or no peer_cub");
  return timed_ladder(results);
}

/// A table of GB/s: a line for each value of `row`, a column for each value of `column`, both in order of appearance.
std::string bandwidth_table(const Results& results, const std::string& corner,
                            std::string (*row)(const Json&), std::string (*column)(const Json&)) {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::map<std::pair<std::string, std::string>, double> cells;
  const auto note = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Json& result : results) {
    note(rows, row(result));
    note(columns, column(result));
    cells[{row(result), column(result)}] = gbps(result);
  }
  std::string text = "| " + corner + " |";
  for (const std::string& name : columns)
    text += " " + name + " |";
  text += "\n|:--|";
  for (std::size_t k = 0; k < columns.size(); ++k)
    text += "--:|";
  text += "\n";
  for (const std::string& name : rows) {
    text += "| " + name + " |";
    for (const std::string& other : columns) {
      const auto cell = cells.find({name, other});
      text += cell != cells.end() ? fmt::format(" {:.1f} |", cell->second) : " – |";
    }
    text += "\n";
  }
  return text;
}

std::string block_sweep(const std::filesystem::path& folder) {
  const auto block_of = [](const Json& result) -> std::string {
    return result.at("block").is_null() ? "its own" : result.at("block").dump();
  };
  return bandwidth_table(read_list(folder, "sweep_block"), "GB/s with blocks of", step_of, block_of);
}

std::string size_sweep(const std::filesystem::path& folder) {
  return bandwidth_table(read_list(folder, "sweep_size"), "elements", elements_of, step_of);
}

std::string type_sweep(const std::filesystem::path& folder) {
  return bandwidth_table(read_list(folder, "sweep_type"), "GB/s", step_of, type_of);
}

/// " in blocks of 256 threads": the size that all results have, but for those of the CPU and of libraries, which have none.
/// Empty where they differ.
std::string in_blocks(const Results& results) {
  const auto has_block = [](const Json& result) { return !result.at("block").is_null(); };
  const Json* const first = find(results, has_block);
  const auto has_another = [&](const Json& result) {
    return has_block(result) && result.at("block") != first->at("block");
  };
  if (first == nullptr || find(results, has_another) != nullptr) return "";
  return fmt::format(" in blocks of {} threads", first->at("block").dump());
}

/// How many elements of each type; on a GPU with less memory, fewer of the large ones.
std::string type_sweep_elements(const std::filesystem::path& folder) {
  const Results results = read_list(folder, "sweep_type");
  if (results.empty()) throw UsageError("sweep_type.json has no result");
  const auto by_elements = [](const Json& a, const Json& b) {
    return a.at("elements").get<std::uint64_t>() < b.at("elements").get<std::uint64_t>();
  };
  const auto [least, most] = std::minmax_element(results.begin(), results.end(), by_elements);
  if (elements_of(*least) == elements_of(*most)) return elements_of(*most);
  return fmt::format("{} to {}", elements_of(*least), elements_of(*most));
}

/// What the L2's flush does to the bandwidth.
std::string flush(const std::filesystem::path& folder) {
  const auto flush_of = [](const Json& result) -> std::string { return result.at("timing").at("flush"); };
  return bandwidth_table(read_list(folder, "method_flush"), "GB/s, L2 emptied by", elements_of, flush_of);
}

/// What the host's launch latency adds where the device does not wait for it.
std::string queue(const std::filesystem::path& folder) {
  const Results results = read_list(folder, "method_queue");
  std::string text =
      "| step | elements | passes | µs, queued ahead | µs, launched as it runs | difference, µs "
      "|\n|:--|--:|--:|--:|--:|--:|\n";
  for (const Json& queued : results) {
    if (queued.at("timing").at("queued") == false) continue;
    const Json* const launched = find(results, [&](const Json& other) {
      return step_of(other) == step_of(queued) && other.at("elements") == queued.at("elements") &&
             other.at("timing").at("queued") == false;
    });
    if (launched == nullptr) throw UsageError("method_queue.json: a run with --queue off is missing");
    text += fmt::format("| {} | {} | {} | {:.1f} | {:.1f} | {:.1f} |\n", step_of(queued), elements_of(queued),
                        queued.at("passes").size(), median_ms(queued) * 1e3, median_ms(*launched) * 1e3,
                        (median_ms(*launched) - median_ms(queued)) * 1e3);
  }
  return text;
}

/// What empty kernels in front of a sample do to reductions of two kernels: a row per number of them, a column per step.
/// Nothing where it was not measured.
std::string lead_in(const std::filesystem::path& folder) {
  std::vector<std::string> steps;
  std::map<unsigned, std::map<std::string, const Json*>> rows;
  const Results results = read_list_if_there(folder, "method_lead_in");
  for (const Json& result : results) {
    rows[result.at("timing").at("lead_in")][step_of(result)] = &result;
    if (std::find(steps.begin(), steps.end(), step_of(result)) == steps.end())
      steps.push_back(step_of(result));
  }
  if (rows.empty()) return "";
  std::string text = "| empty kernels in front |";
  std::string alignments = "|--:|";
  for (const std::string& step : steps) {
    text += fmt::format(" {}, µs (p5–p95) |", step);
    alignments += "--:|";
  }
  text += "\n" + alignments + "\n";
  for (const auto& [count, row] : rows) {
    text += fmt::format("| {} |", count);
    for (const std::string& step : steps) {
      const auto result = row.find(step);
      if (result == row.end()) {
        text += " – |";
        continue;
      }
      const Json& ms = result->second->at("ms");
      text += fmt::format(" {:.2f} ({:.2f}–{:.2f}) |", ms.at("median").get<double>() * 1e3,
                          ms.at("p5").get<double>() * 1e3, ms.at("p95").get<double>() * 1e3);
    }
    text += "\n";
  }
  return text;
}

/// The very first run of a process, and its first timed sample after so many warm-up runs.
std::string warm_up(const std::filesystem::path& folder) {
  std::map<unsigned, std::vector<double>> first_samples;
  std::vector<double> first_runs;
  for (const Json& result : read_list(folder, "method_warm_up")) {
    first_samples[result.at("timing").at("warm_up")].push_back(median_ms(result));
    first_runs.push_back(result.at("first_run_ms"));
  }
  const auto row = [](const std::string& name, std::vector<double> ms) {
    std::sort(ms.begin(), ms.end());
    return fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.1f} |\n", name, ms.size(), ms.front() * 1e3,
                       quantile(ms, 0.5) * 1e3, ms.back() * 1e3);
  };
  std::string text = "| | processes | lowest, µs | median, µs | highest, µs |\n|:--|--:|--:|--:|--:|\n";
  text += row("the first run, which is verified", first_runs);
  for (const auto& [runs, ms] : first_samples)
    text += row(fmt::format("first sample after {} warm-up runs", runs), ms);
  return text;
}

/// How far apart the samples of a run lie, and two runs.
std::string repeat(const std::filesystem::path& folder) {
  const Results ladder_results = read_list(folder, "ladder");
  std::string text =
      "| step | samples | p5, ms | median, ms | p95, ms | median of a second run, ms | difference, % "
      "|\n|:--|--:|--:|--:|--:|--:|--:|\n";
  for (const Json& second : read_list(folder, "repeat")) {
    const Json* const first =
        find(ladder_results, [&](const Json& result) { return step_of(result) == step_of(second); });
    if (first == nullptr) throw UsageError("ladder.json: a step of repeat.json is missing");
    const Json& ms = first->at("ms");
    text += fmt::format("| {} | {} | {:.4f} | {:.4f} | {:.4f} | {:.4f} | {:.2f} |\n", step_of(second),
                        first->at("samples").get<std::size_t>(), ms.at("p5").get<double>(), median_ms(*first),
                        ms.at("p95").get<double>(), median_ms(second),
                        (median_ms(second) / median_ms(*first) - 1) * 100);
  }
  return text;
}

/// The steps' own times beside those of Nsight Compute; where it could not be run, a sentence that says so.
std::string second_clock(const std::filesystem::path& folder) {
  const Results rows = read_list_if_there(folder, "second_clock");
  if (rows.empty()) return "Nsight Compute was not run here.\n";
  std::string text =
      "| step | the step's own median, ms | Nsight Compute, ms | difference, % |\n|:--|--:|--:|--:|\n";
  for (const Json& row : rows) {
    const double ncu_ms = row.at("ncu_ms");
    const double step_ms = row.at("step_ms");
    text += fmt::format("| {} | {:.4f} | {:.4f} | {:.1f} |\n", step_of(row), step_ms, ncu_ms,
                        (step_ms / ncu_ms - 1) * 100);
  }
  return text;
}

/// What each GPU of the machine takes for one rank's elements by itself, and how a job of equal shards stands against the
/// slowest that takes part in it; nothing where that was not measured.
std::string against_slowest_gpu(const std::filesystem::path& folder, const Results& jobs) {
  const Results alone = read_list_if_there(folder, "many_gpus_alone");
  if (alone.empty()) return "";
  std::string text = "\n| GPU alone | elements | ms | GB/s |\n|--:|--:|--:|--:|\n";
  for (const Json& gpu : alone) {
    text += fmt::format("| {} | {} | {:.4f} | {:.1f} |\n", gpu.at("device").at("ordinal").get<int>(),
                        elements_of(gpu), median_ms(gpu), gbps(gpu));
  }
  std::vector<std::string> ratios;
  for (const Json& job : jobs) {
    const int ranks = job.at("ranks");
    if (ranks < 2 || job.at("ms").is_null()) continue;
    double slowest = 0;
    int found = 0;
    for (const Json& gpu : alone) {
      // Rank r of a machine has GPU r.
      if (gpu.at("device").at("ordinal") >= ranks || gpu.at("elements") != job.at("elements_a_rank"))
        continue;
      slowest = std::max(slowest, median_ms(gpu));
      ++found;
    }
    if (found == ranks)
      ratios.push_back(fmt::format("{} ranks {:.3f} times", ranks, ranks * slowest / median_ms(job)));
  }
  if (ratios.empty()) return text;
  return text + fmt::format("\nThe bandwidth of its slowest GPU alone: {}.\n", fmt::join(ratios, ", "));
}

/// 13_many_gpus on more and more ranks; nothing where it was not measured.
std::string scaling(const std::filesystem::path& folder) {
  const Results results = read_list_if_there(folder, "many_gpus");
  if (results.empty()) return "";
  std::string text =
      "| ranks | devices | nodes | type | elements per rank | ms | GB/s | GB/s per rank | × one rank | "
      "combined "
      "by "
      "|\n|--:|:--|--:|:--|--:|--:|--:|--:|--:|:--|\n";
  for (const Json& result : results) {
    const int ranks = result.at("ranks");
    const Json ms = result.at("ms").is_null() ? Json() : result.at("ms").at("median");
    text += fmt::format(
        "| {} | {} × {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", ranks, ranks,
        result.at("device").at("name").get<std::string>(), result.at("nodes").get<int>(), type_of(result),
        count_text(result.at("elements_a_rank").get<std::uint64_t>()), number_or_dash(ms, 4),
        number_or_dash(result.at("gbps"), 1), number_or_dash(result.at("gbps_a_rank"), 1),
        number_or_dash(result.at("times_one_rank"), 3), result.at("combined_by").get<std::string>());
  }
  return text + against_slowest_gpu(folder, results);
}

/// CUB's time over that of 12_any_operation, a row per size and a column per type, and what all of these come to; nothing
/// where the two were not measured.
std::string against_cub(const std::filesystem::path& folder) {
  const Results results = read_list_if_there(folder, "sweep_size_types");
  // By size, so that the rows ascend.
  std::map<std::uint64_t, std::map<std::string, double>> rows;
  std::string lowest;
  double lowest_ratio = 0;
  double sum_of_logarithms = 0;
  std::size_t cells = 0;
  for (const Json& result : results) {
    if (step_of(result) != "12_any_operation") continue;
    const Json* const cub = find(results, [&](const Json& other) {
      return step_of(other) == "peer_cub" && type_of(other) == type_of(result) &&
             other.at("elements") == result.at("elements");
    });
    if (cub == nullptr) continue;
    const double ratio = median_ms(*cub) / median_ms(result);
    rows[result.at("elements")][type_of(result)] = ratio;
    if (cells == 0 || ratio < lowest_ratio) {
      lowest_ratio = ratio;
      lowest = fmt::format("{} {}", elements_of(result), type_of(result));
    }
    sum_of_logarithms += std::log(ratio);
    ++cells;
  }
  if (cells == 0) return "";

  const std::vector<std::string> types = types_of(results);
  std::string text = "| elements |";
  std::string alignments = "|:--|";
  for (const std::string& type : types) {
    text += fmt::format(" {} |", type);
    alignments += "--:|";
  }
  text += "\n" + alignments + "\n";
  for (const auto& [elements, ratios] : rows) {
    text += fmt::format("| {} |", count_text(elements));
    for (const std::string& type : types) {
      const auto ratio = ratios.find(type);
      text += ratio != ratios.end() ? fmt::format(" {:.2f} |", ratio->second) : " – |";
    }
    text += "\n";
  }
  return text + fmt::format("\nThe lowest of these {}: {:.2f} ({}). Their geometric mean: {:.2f}.\n", cells,
                            lowest_ratio, lowest, std::exp(sum_of_logarithms / static_cast<double>(cells)));
}

/// What others have published of a step for the same type and size: "2.47 GB/s, 0.3 % of peak (blog 2025, RTX 3090)".
std::string published(const Json& result) {
  std::string text;
  for (const DocumentedTable& table : originals_of(read_documented_tables(REPOSITORY))) {
    const DocumentedFigure* const figure = table.find(step_of(result));
    if (figure == nullptr || !figure->gbps || table.type != type_of(result) ||
        table.elements != result.at("elements"))
      continue;
    text += fmt::format("{}{:.5g} GB/s, {} % of peak ({}, {})", text.empty() ? "" : "; ", *figure->gbps,
                        percent_text(*figure), table.label, table.gpu);
  }
  return text.empty() ? "–" : text;
}

/// The kernels that add with atomics, beside what others have published; nothing where they were not measured.
std::string atomics(const std::filesystem::path& folder) {
  const Results results = read_list_if_there(folder, "atomics");
  if (results.empty()) return "";
  std::string text =
      "| kernel | type | elements | ms | GB/s | % of peak | published |\n|:--|:--|--:|--:|--:|--:|:--|\n";
  for (const Json& result : results)
    text += fmt::format("| {} | {} | {} | {:.4f} | {:.1f} | {} | {} |\n", step_of(result), type_of(result),
                        elements_of(result), median_ms(result), gbps(result),
                        number_or_dash(result.at("percent_of_peak"), 1), published(result));
  return text;
}

/// "torch 2.8.0, cupy 13.5.1": the libraries among the peers that say their own version.
std::string library_versions(const Results& results) {
  std::vector<std::string> versions;
  for (const Json& result : results) {
    const std::string version = result.value("version", "");
    const bool names_library = version.find(' ') != std::string::npos;
    if (names_library && std::find(versions.begin(), versions.end(), version) == versions.end())
      versions.push_back(version);
  }
  return fmt::format("{}", fmt::join(versions, ", "));
}

/// The tables of compare.sh, one for each type that is accepted; nothing where it was not run.
std::string peer_tables(const std::filesystem::path& folder, bool (*accepts)(const std::string& type)) {
  const Results results = read_list_if_there(folder, "peers");
  std::string text;
  for (const std::string& type : types_of(results)) {
    if (accepts(type)) text += fmt::format("{}{}", text.empty() ? "" : "\n", peer_table(results, type));
  }
  const std::string versions = library_versions(results);
  return text.empty() || versions.empty() ? text : text + fmt::format("\nThe libraries: {}.\n", versions);
}

std::string peers(const std::filesystem::path& folder) {
  return peer_tables(folder, [](const std::string&) { return true; });
}

/// Of the types that most readers look for.
std::string peers_32_bit(const std::filesystem::path& folder) {
  return peer_tables(folder, [](const std::string& type) { return type == "int32" || type == "float32"; });
}

/// The whole page of the folder.
std::string page(const std::filesystem::path& folder) {
  const Json measured = read(folder / "measured.json");
  const Results ladder_results = read_list(folder, "ladder");
  const Json* const first = find(ladder_results, on_gpu);
  if (first == nullptr) throw UsageError("ladder.json: there is no GPU's step in it");
  std::string text =
      fmt::format("# Results · {}\n\n{}\n", measured.at("gpu").get<std::string>(), provenance(folder));
  text += fmt::format(
      "Peak: {} GB/s (memory clock × bus width × 2 / 8). Each time is the median of a run's samples; [the "
      "method](../../method.md) says how they are taken. This page is written by `print_results` from the "
      "JSON files beside it.\n",
      number_or_dash(first->at("device").at("peak_gbps"), 0));
  const auto section = [&](const char* title, const char* file, const char* plot, const std::string& what,
                           const std::string& table) {
    text += fmt::format("\n## {0}\n\n{1}. Data: [{2}.json]({2}.json)\n\n![{0}]({3}.svg)\n\n{4}", title, what,
                        file, plot, table);
  };
  const std::string elements = elements_of(*first);
  section("The ladder", "ladder", "ladder",
          fmt::format("{} {}{}", elements, type_of(*first), in_blocks(ladder_results)), ladder(folder));
  section("Block size", "sweep_block", "sweep_block",
          fmt::format("GB/s of {} {} in blocks of 32 to 1024 threads", elements, type_of(*first)),
          block_sweep(folder));
  section("Array size", "sweep_size", "bandwidth",
          fmt::format("GB/s of {}{}", type_of(*first), in_blocks(read_list(folder, "sweep_size"))),
          size_sweep(folder));
  text += "\nThe same as time against size:\n\n![Time against array size](sweep_size.svg)\n";
  section("Element type", "sweep_type", "sweep_type",
          fmt::format("GB/s of {} elements{}", type_sweep_elements(folder),
                      in_blocks(read_list(folder, "sweep_type"))),
          type_sweep(folder));
  // Not every card has these results.
  const auto section_if_there = [&](const char* title, const char* file, const std::string& what,
                                    const std::string& table) {
    if (table.empty()) return;
    text += fmt::format("\n## {0}\n\n{1}. Data: [{2}.json]({2}.json)\n\n{3}", title, what, file, table);
  };
  section_if_there("12_any_operation against CUB", "sweep_size_types",
                   "CUB's time over that of 12_any_operation: above 1 CUB takes longer", against_cub(folder));
  section_if_there("Peers", "peers",
                   "GB/s, and the share of CUB's, in one run of `beyond/peers/compare.sh`. A dash is what a "
                   "program cannot sum or was not measured on",
                   peers(folder));
  section_if_there("Atomics", "atomics",
                   "The kernels of [beyond/atomics](../../../beyond/atomics/README.md) beside what others "
                   "have published",
                   atomics(folder));
  return text;
}

using Section = std::pair<const char*, std::string (*)(const std::filesystem::path&)>;
constexpr std::array<Section, 16> sections{{{"page", page},
                                            {"provenance", provenance},
                                            {"ladder", ladder},
                                            {"block", block_sweep},
                                            {"size", size_sweep},
                                            {"type", type_sweep},
                                            {"flush", flush},
                                            {"queue", queue},
                                            {"lead_in", or_none<lead_in>},
                                            {"warm_up", warm_up},
                                            {"repeat", repeat},
                                            {"second_clock", second_clock},
                                            {"scaling", or_none<scaling>},
                                            {"against_cub", or_none<against_cub>},
                                            {"atomics", or_none<atomics>},
                                            {"peers", or_none<peers_32_bit>}}};

/// Throws UsageError where a result has not the keys that the steps write.
std::string print_section(const Section& section, const std::filesystem::path& folder) {
  try {
    return section.second(folder);
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("the results in '{}' are not as measure.sh writes them: {}", folder.string(),
                                 error.what()));
  }
}

ExitCode run(int argc, char** argv) {
  const std::string name = argc == 3 ? argv[2] : "";
  const auto* const section =
      std::find_if(sections.begin(), sections.end(), [&](const Section& each) { return each.first == name; });
  if (section == sections.end()) {
    std::string names;
    for (const Section& each : sections)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", each.first);
    throw UsageError("usage: print_results FOLDER SECTION, where SECTION is one of " + names);
  }
  fmt::print("{}", print_section(*section, argv[1]));
  return ExitCode::verified;
}

}  // namespace

}  // namespace reduction

int main(int argc, char** argv) {
  return reduction::exit_code_of("print_results", [&] { return reduction::run(argc, argv); });
}
