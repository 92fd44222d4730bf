/// \file
/// Puts what the emulated device counts beside what a GPU's own counters say, as Markdown tables. It reads a file that
/// profile.sh wrote and the --json files of the same steps on the emulated device, and ends with exit code 1 where the
/// two sides disagree. generate_table.sh runs it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/emulated/counters.hpp"
#include "harness/counter_names.hpp"
#include "harness/exit_code.hpp"
#include "harness/options.hpp"

namespace {

using reduction::UsageError;
using reduction::emulated::Counters;

// What both sides count.
constexpr std::uint64_t elements = std::uint64_t{1} << 22;
constexpr unsigned block = 256;

/// Other traffic through the L1 cache adds to a GPU's bank conflicts, and as much to its wavefronts. This share of the
/// wavefronts may be such noise.
constexpr double noise = 0.04;

// ---- the two sides ----

/// The metrics of one step by Nsight Compute's names. One that the GPU does not have is not among them.
using Metrics = std::map<std::string, double, std::less<>>;

/// A file of profile.sh.
struct Hardware {
  std::vector<std::pair<std::string, std::string>> description;  ///< its lines "# key: value"
  std::map<std::string, Metrics> steps;
};

/// A step on both sides.
struct Step {
  std::string name;
  Counters emulated;
  Metrics hardware;
};

std::optional<double> metric(const Metrics& metrics, std::string_view name) {
  const auto found = metrics.find(name);
  return found != metrics.end() ? std::optional(found->second) : std::nullopt;
}

/// The one whose name ends with "_ld" or "_st", and then ".sum".
std::optional<double> sum(const Metrics& metrics, std::string_view name, std::string_view operation) {
  return metric(metrics, fmt::format("{}_{}.sum", name, operation));
}

Hardware read_hardware(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw UsageError(fmt::format("'{}' cannot be read; give a file of profile.sh", file));
  Hardware hardware;
  std::string line;
  for (std::size_t number = 1; std::getline(stream, line); ++number) {
    const auto refuse = [&] {
      throw UsageError(fmt::format("{}:{}: '{}' is no line `step,metric,value`", file, number, line));
    };
    if (line.starts_with("# ")) {
      const auto colon = line.find(": ");
      if (colon != std::string::npos)
        hardware.description.emplace_back(line.substr(2, colon - 2), line.substr(colon + 2));
      continue;
    }
    if (line == "step,metric,value") continue;
    const auto first = line.find(',');
    const auto second = line.find(',', first + 1);
    if (first == std::string::npos || second == std::string::npos) refuse();
    Metrics& metrics = hardware.steps[line.substr(0, first)];
    const std::string_view text = std::string_view(line).substr(second + 1);
    if (text == "missing") continue;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) refuse();
    metrics[line.substr(first + 1, second - first - 1)] = value;
  }
  return hardware;
}

/// A grid that fills the device, as that of step 07, has another size on another device. What a block does in shared
/// memory and what it stores stays the same, and so does what all blocks load together.
Counters with_blocks(Counters counters, std::uint64_t blocks) {
  const std::uint64_t emulated_blocks = counters.blocks;
  if (emulated_blocks == blocks) return counters;
  for (const auto& [name, counter] : reduction::counter_names) {
    if (!name.starts_with("global_load")) counters.*counter = counters.*counter * blocks / emulated_blocks;
  }
  return counters;
}

Step read_step(const std::string& file, const Hardware& hardware) {
  std::ifstream stream(file);
  if (!stream) throw UsageError(fmt::format("'{}' cannot be read; give the --json files of the steps", file));
  Step step;
  try {
    const auto json = nlohmann::json::parse(stream);
    const auto& counters = json.at("passes").at(0).at("counters");
    if (json.at("elements") != elements || json.at("block") != block || json.at("type") != "int32" ||
        counters.is_null()) {
      throw UsageError(
          fmt::format("'{}' has other counters; run the step with --device emulated -n 2^22 -b 256", file));
    }
    step.name = json.at("step");
    for (const auto& [name, counter] : reduction::counter_names) {
      step.emulated.*counter = counters.at(std::string(name));
    }
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("'{}' is no JSON file of a step: {}", file, error.what()));
  }
  const auto found = hardware.steps.find(step.name);
  if (found == hardware.steps.end())
    throw UsageError(fmt::format("the GPU's file has no {}, but '{}' has", step.name, file));
  step.hardware = found->second;
  if (const auto grid = metric(step.hardware, "launch__grid_size"))
    step.emulated = with_blocks(step.emulated, static_cast<std::uint64_t>(*grid));
  return step;
}

// ---- the comparison ----

/// What was compared so far, and what differs.
struct Verdict {
  unsigned compared = 0;
  std::vector<std::string> differences;
};

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.10g}", *value) : "–"; }

/// The two cells of a count that has to be the same within `allowance`; in bold where it is not.
std::string cells(const Step& step, std::string_view what, std::uint64_t emulated,
                  const std::optional<double>& hardware, double allowance, Verdict& verdict) {
  if (!hardware) return fmt::format(" {} | – |", emulated);
  ++verdict.compared;
  if (std::abs(*hardware - static_cast<double>(emulated)) <= allowance)
    return fmt::format(" {} | {} |", emulated, cell(hardware));
  verdict.differences.push_back(
      fmt::format("{}: {}: emulated {}, GPU {}", step.name, what, emulated, cell(hardware)));
  return fmt::format(" **{}** | **{}** |", emulated, cell(hardware));
}

/// One direction of the accesses to shared memory.
struct SharedCounters {
  std::string_view title, operation;
  std::uint64_t Counters::*requests;
  std::uint64_t Counters::*wavefronts;
  std::uint64_t Counters::*conflicts;
};

constexpr SharedCounters shared_loads{"Loads from shared memory", "ld", &Counters::shared_load_requests,
                                      &Counters::shared_load_wavefronts, &Counters::shared_load_conflicts};
constexpr SharedCounters shared_stores{"Stores to shared memory", "st", &Counters::shared_store_requests,
                                       &Counters::shared_store_wavefronts, &Counters::shared_store_conflicts};

void print_shared(const std::vector<Step>& steps, const SharedCounters& counters, Verdict& verdict) {
  fmt::print(
      "\n**{}**\n\n"
      "| step | requests, emulated | wavefronts − conflicts, emulated | GPU | conflicts, emulated | GPU | "
      "difference, % of wavefronts |\n|:--|--:|--:|--:|--:|--:|--:|\n",
      counters.title);
  for (const Step& step : steps) {
    const std::uint64_t requests = step.emulated.*counters.requests;
    const std::uint64_t conflicts = step.emulated.*counters.conflicts;
    const auto gpu_wavefronts =
        sum(step.hardware, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op", counters.operation);
    auto gpu_conflicts =
        sum(step.hardware, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op", counters.operation);
    std::optional<double> gpu_rest, difference;
    if (!gpu_wavefronts) gpu_conflicts.reset();  // whether they agree, the wavefronts say
    if (gpu_conflicts) {
      gpu_rest = *gpu_wavefronts - *gpu_conflicts;
      difference = 100 * (*gpu_conflicts - static_cast<double>(conflicts)) / *gpu_wavefronts;
    }
    const auto what = [&](std::string_view count) { return fmt::format("{}: {}", counters.title, count); };
    fmt::print(
        "| {} | {} |{}{} {} |\n", step.name, requests,
        cells(step, what("wavefronts - conflicts"), step.emulated.*counters.wavefronts - conflicts, gpu_rest,
              0, verdict),
        cells(step, what("conflicts"), conflicts, gpu_conflicts, noise * gpu_wavefronts.value_or(0), verdict),
        difference ? fmt::format("{:.2f}", *difference) : "–");
  }
}

void print_global(const std::vector<Step>& steps, Verdict& verdict) {
  fmt::print(
      "\n**Global memory**\n\n"
      "| step | load requests, emulated | GPU | load sectors, emulated | GPU | store requests, emulated | "
      "GPU | "
      "store sectors, emulated | GPU |\n|:--|--:|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const Step& step : steps) {
    const Counters& emulated = step.emulated;
    const auto requests = [&](std::string_view operation) {
      return sum(step.hardware, "l1tex__t_requests_pipe_lsu_mem_global_op", operation);
    };
    const auto sectors = [&](std::string_view operation) {
      return sum(step.hardware, "l1tex__t_sectors_pipe_lsu_mem_global_op", operation);
    };
    const auto exact = [&](std::string_view what, std::uint64_t count, const std::optional<double>& gpu) {
      return cells(step, what, count, gpu, 0, verdict);
    };
    fmt::print("| {} |{}{}{}{}\n", step.name,
               exact("global load requests", emulated.global_load_requests, requests("ld")),
               exact("global load sectors", emulated.global_load_sectors, sectors("ld")),
               exact("global store requests", emulated.global_store_requests, requests("st")),
               exact("global store sectors", emulated.global_store_sectors, sectors("st")));
  }
}

/// What the emulated device does not count.
void print_hardware_only(const std::vector<Step>& steps) {
  fmt::print(
      "\n**Only on the GPU**\n\n"
      "| step | blocks | warp instructions | threads an instruction | divergent branches | shared load "
      "instructions | "
      "shared store instructions | µs |\n|:--|--:|--:|--:|--:|--:|--:|--:|\n");
  for (const Step& step : steps) {
    const auto gpu = [&](std::string_view name) { return cell(metric(step.hardware, name)); };
    const auto ns = metric(step.hardware, "gpu__time_duration.sum");
    fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} |\n", step.name, gpu("launch__grid_size"),
               gpu("smsp__inst_executed.sum"), gpu("smsp__thread_inst_executed_per_inst_executed.ratio"),
               gpu("smsp__sass_branch_targets_threads_divergent.sum"),
               gpu("smsp__inst_executed_op_shared_ld.sum"), gpu("smsp__inst_executed_op_shared_st.sum"),
               ns ? fmt::format("{:.2f}", *ns / 1000) : "–");
  }
}

/// Which GPU it was. Its name is the heading.
void print_description(const Hardware& hardware) {
  std::string text;
  for (const auto& [key, value] : hardware.description) {
    if (key == "GPU") {
      fmt::print("### {}\n\n", value);
    } else if (key != "command") {
      text += fmt::format("{}{}: {}", text.empty() ? "" : " · ", key, value);
    }
  }
  if (!text.empty()) fmt::print("{}\n", text);
}

reduction::ExitCode run(const std::string& hardware_file, const std::vector<std::string>& step_files) {
  const Hardware hardware = read_hardware(hardware_file);
  std::vector<Step> steps;
  for (const std::string& file : step_files)
    steps.push_back(read_step(file, hardware));

  Verdict verdict;
  print_description(hardware);
  print_shared(steps, shared_loads, verdict);
  print_shared(steps, shared_stores, verdict);
  print_global(steps, verdict);
  print_hardware_only(steps);
  if (verdict.compared == 0) throw UsageError(fmt::format("'{}' has nothing to compare", hardware_file));
  if (verdict.differences.empty()) {
    fmt::print("\nAll {} compared counts agree.\n", verdict.compared);
    return reduction::ExitCode::verified;
  }
  fmt::print("\n**{} of {} compared counts differ.**\n", verdict.differences.size(), verdict.compared);
  for (const std::string& difference : verdict.differences)
    fmt::print(stderr, "counter_comparison: {}\n", difference);
  return reduction::ExitCode::wrong_result;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Puts the steps' counters on the emulated device beside those of a GPU.",
               "counter_comparison");
  std::string hardware_file;
  std::vector<std::string> step_files;
  app.add_option("gpu", hardware_file, "the file that docs/counters/profile.sh wrote")->required();
  app.add_option("steps", step_files, "the --json files of the steps, emulated, -n 2^22")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error)
                                      : (app.exit(error), static_cast<int>(reduction::ExitCode::bad_usage));
  }
  return reduction::exit_code_of("counter_comparison", [&] { return run(hardware_file, step_files); });
}
