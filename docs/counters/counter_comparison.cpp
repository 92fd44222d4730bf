/// \file
/// Puts what the emulated device counts beside what a GPU's own counters say, as Markdown tables. It reads a file that
/// profile.sh wrote and the --json files of the same steps on the emulated device, and ends with exit code 1 where the
/// two sides disagree. Steps that only the GPU ran are shown beside, by name. generate_table.sh runs it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
#include "harness/exit_code.hpp"
#include "harness/options.hpp"
#include "harness/text_options.hpp"

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

/// A step on both sides, or on the GPU alone.
struct Step {
  std::string name;
  std::optional<Counters> emulated;
  Metrics hardware;

  std::optional<std::uint64_t> counted(std::uint64_t Counters::*counter) const {
    return emulated ? std::optional((*emulated).*counter) : std::nullopt;
  }
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

/// The counters of a pass with another number of blocks: a grid that fills the device, as that of step 07, has another
/// size on another device. What a block does in shared memory and what it stores stays the same, and so does what all
/// blocks load of the input together. In a single pass the last block does as much once more, for the blocks' partial
/// sums, and loads these.
Counters with_blocks(Counters counters, std::uint64_t blocks, bool single_pass) {
  const std::uint64_t emulated_blocks = counters.blocks;
  if (emulated_blocks == blocks) return counters;
  const std::uint64_t once_more = single_pass ? 1 : 0;
  for (const auto& [name, counter] : reduction::emulated::counter_names) {
    if (name.starts_with("shared_") || name.starts_with("global_store_"))
      counters.*counter = counters.*counter * (blocks + once_more) / (emulated_blocks + once_more);
  }
  if (single_pass) {
    const auto parts = [](std::uint64_t whole, std::uint64_t part) { return (whole + part - 1) / part; };
    counters.global_load_requests += parts(blocks, 32) - parts(emulated_blocks, 32);
    counters.global_load_sectors += parts(blocks * 4, 32) - parts(emulated_blocks * 4, 32);
  }
  return counters;
}

const Metrics& metrics_of(const std::string& step, const Hardware& hardware) {
  const auto found = hardware.steps.find(step);
  if (found == hardware.steps.end())
    throw UsageError(fmt::format("the GPU's file has no {}; write it anew with profile.sh", step));
  return found->second;
}

Step read_step(const std::string& file, const Hardware& hardware) {
  std::ifstream stream(file);
  if (!stream) throw UsageError(fmt::format("'{}' cannot be read; give the --json files of the steps", file));
  Step step;
  Counters emulated;
  bool single_pass = false;
  try {
    const auto json = nlohmann::json::parse(stream);
    const auto& passes = json.at("passes");
    const auto& counters = passes.at(0).at("counters");
    if (json.at("elements") != elements || json.at("block") != block || json.at("type") != "int32" ||
        counters.is_null()) {
      throw UsageError(
          fmt::format("'{}' has other counters; run the step with --device emulated -n 2^22 -b 256", file));
    }
    step.name = json.at("step");
    single_pass = passes.size() == 1;
    for (const auto& [name, counter] : reduction::emulated::counter_names)
      emulated.*counter = counters.at(std::string(name));
  } catch (const nlohmann::json::exception& error) {
    throw UsageError(fmt::format("'{}' is no JSON file of a step: {}", file, error.what()));
  }
  step.hardware = metrics_of(step.name, hardware);
  const auto grid = metric(step.hardware, "launch__grid_size");
  step.emulated = grid ? with_blocks(emulated, static_cast<std::uint64_t>(*grid), single_pass) : emulated;
  return step;
}

/// The steps of the tables, in their order. Each step of the GPU's file has to be among them, so that none goes
/// uncompared unsaid.
std::vector<Step> read_steps(const std::vector<std::string>& step_files,
                             const std::vector<std::string>& gpu_only, const Hardware& hardware) {
  std::vector<Step> steps;
  for (const std::string& file : step_files)
    steps.push_back(read_step(file, hardware));
  for (const std::string& name : gpu_only)
    steps.push_back({name, std::nullopt, metrics_of(name, hardware)});
  for (const auto& [name, metrics] : hardware.steps) {
    if (std::ranges::find(steps, name, &Step::name) == steps.end())
      throw UsageError(
          fmt::format("the GPU's file has {}: give its --json file, or name it with --gpu-only", name));
  }
  return steps;
}

// ---- the comparison ----

/// What was compared so far, and what differs.
struct Verdict {
  unsigned compared = 0;
  std::vector<std::string> differences;
};

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.10g}", *value) : "–"; }
std::string cell(const std::optional<std::uint64_t>& value) {
  return value ? fmt::format("{}", *value) : "–";
}

/// The step's name, with a mark where there is nothing to compare.
std::string name_cell(const Step& step) { return step.name + (step.emulated ? "" : " (GPU only)"); }

/// The two cells of a count that has to be the same within `allowance`; in bold where it is not.
std::string cells(const Step& step, std::string_view what, const std::optional<std::uint64_t>& emulated,
                  const std::optional<double>& hardware, double allowance, Verdict& verdict) {
  const std::string left = cell(emulated), right = cell(hardware);
  if (!emulated || !hardware) return fmt::format(" {} | {} |", left, right);
  ++verdict.compared;
  if (std::abs(*hardware - static_cast<double>(*emulated)) <= allowance)
    return fmt::format(" {} | {} |", left, right);
  verdict.differences.push_back(fmt::format("{}: {}: emulated {}, GPU {}", step.name, what, left, right));
  return fmt::format(" **{}** | **{}** |", left, right);
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
    const auto conflicts = step.counted(counters.conflicts);
    const auto wavefronts = step.counted(counters.wavefronts);
    const auto gpu_wavefronts =
        sum(step.hardware, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op", counters.operation);
    auto gpu_conflicts =
        sum(step.hardware, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op", counters.operation);
    std::optional<std::uint64_t> rest;
    std::optional<double> gpu_rest, difference;
    if (wavefronts) rest = *wavefronts - *conflicts;
    if (!gpu_wavefronts) gpu_conflicts.reset();  // whether they agree, the wavefronts say
    if (gpu_conflicts) {
      gpu_rest = *gpu_wavefronts - *gpu_conflicts;
      if (conflicts) difference = 100 * (*gpu_conflicts - static_cast<double>(*conflicts)) / *gpu_wavefronts;
    }
    const auto what = [&](std::string_view count) { return fmt::format("{}: {}", counters.title, count); };
    fmt::print(
        "| {} | {} |{}{} {} |\n", name_cell(step), cell(step.counted(counters.requests)),
        cells(step, what("wavefronts - conflicts"), rest, gpu_rest, 0, verdict),
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
    const auto requests = [&](std::string_view operation) {
      return sum(step.hardware, "l1tex__t_requests_pipe_lsu_mem_global_op", operation);
    };
    const auto sectors = [&](std::string_view operation) {
      return sum(step.hardware, "l1tex__t_sectors_pipe_lsu_mem_global_op", operation);
    };
    const auto exact = [&](std::string_view what, std::uint64_t Counters::*counter,
                           const std::optional<double>& gpu) {
      return cells(step, what, step.counted(counter), gpu, 0, verdict);
    };
    fmt::print("| {} |{}{}{}{}\n", name_cell(step),
               exact("global load requests", &Counters::global_load_requests, requests("ld")),
               exact("global load sectors", &Counters::global_load_sectors, sectors("ld")),
               exact("global store requests", &Counters::global_store_requests, requests("st")),
               exact("global store sectors", &Counters::global_store_sectors, sectors("st")));
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

/// Where what a kernel reads comes from, whoever asks for it. Nothing is printed for a file without these metrics.
void print_bytes_read(const std::vector<Step>& steps) {
  constexpr std::array<std::string_view, 3> names{"dram__bytes_read.sum",
                                                  "l1tex__m_xbar2l1tex_read_bytes.sum",
                                                  "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"};
  const auto counted = [&](const Step& step) {
    return std::ranges::any_of(names, [&](std::string_view name) { return step.hardware.contains(name); });
  };
  if (std::ranges::none_of(steps, counted)) return;
  fmt::print(
      "\n**Bytes read, only on the GPU**\n\n"
      "| step | from memory | from L2 to the multiprocessors | of these by the copy engine |\n"
      "|:--|--:|--:|--:|\n");
  for (const Step& step : steps) {
    fmt::print("| {} |", step.name);
    for (const std::string_view name : names)
      fmt::print(" {} |", cell(metric(step.hardware, name)));
    fmt::print("\n");
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

reduction::ExitCode run(const std::string& hardware_file, const std::vector<std::string>& step_files,
                        const std::vector<std::string>& gpu_only) {
  const Hardware hardware = read_hardware(hardware_file);
  const std::vector<Step> steps = read_steps(step_files, gpu_only, hardware);

  Verdict verdict;
  print_description(hardware);
  print_shared(steps, shared_loads, verdict);
  print_shared(steps, shared_stores, verdict);
  print_global(steps, verdict);
  print_bytes_read(steps);
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
  return reduction::exit_code_of("counter_comparison", [&] {
    reduction::TextOptions app("counter_comparison",
                               "Puts the steps' counters on the emulated device beside those of a GPU.");
    std::string hardware_file;
    std::vector<std::string> step_files, gpu_only;
    app.add_argument("gpu", "the file that docs/counters/profile.sh wrote", hardware_file);
    app.add_arguments("steps", "the --json files of the steps, emulated, -n 2^22", step_files);
    app.add_list("--gpu-only", "steps that only a GPU runs, by name: shown, not compared", gpu_only);
    const std::string answer = app.read(argc, argv);
    if (!answer.empty()) {
      fmt::print("{}", answer);
      return reduction::ExitCode::verified;
    }
    return run(hardware_file, step_files, gpu_only);
  });
}
