#include "harness/run_cpu_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "harness/configuration.hpp"
#include "harness/device_selection.hpp"
#include "harness/exit_code.hpp"
#include "harness/host_fill.hpp"
#include "harness/host_memory.hpp"
#include "harness/passes.hpp"
#include "harness/report.hpp"
#include "harness/run_configurations.hpp"
#include "harness/units.hpp"

namespace reduction {

namespace {

/// The input is summed a chunk at a time, so that 64 GiB of it need no 64 GiB. A power of two of elements, so that the
/// chunks' trees are the lower levels of the tree over all of them.
constexpr std::size_t chunk_bytes = std::size_t{256} << 20;

DeviceInfo describe_cpu() {
  DeviceInfo info;
  info.name = "one core of the CPU";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      info.name = "one core of " + line.substr(colon + 2);
      break;
    }
  }
  return info;
}

/// Adds the wall-clock time of work() to `ms`.
template <typename Work> void add_time(double& ms, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  ms += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// One sample of both sums: their results and how long each took without the time that the input took to make.
struct Sample {
  Value running{};
  Value tree{};
  double running_ms = 0;
  double tree_ms = 0;
};

Sample take_sample(const CpuKernel& kernel, const Input& input, ElementType type,
                   std::vector<std::byte>& chunk) {
  Sample sample;
  sample.running.type = type;
  sample.tree.type = type;
  const std::size_t size = size_of(type);
  const std::uint64_t chunk_elements = chunk_bytes / size;
  std::vector<std::byte> chunk_sums;
  for (std::uint64_t first = 0; first < input.n; first += chunk_elements) {
    const std::uint64_t count = std::min(chunk_elements, input.n - first);
    fill_host(chunk.data(), input, type, first, count);
    add_time(sample.running_ms,
             [&] { kernel.add_running_sum(sample.running.bytes.data(), chunk.data(), count); });
    add_time(sample.tree_ms, [&] { kernel.sum_tree(chunk.data(), count); });
    chunk_sums.insert(chunk_sums.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(size));
  }
  if (input.n > 0) {
    add_time(sample.tree_ms, [&] { kernel.sum_tree(chunk_sums.data(), chunk_sums.size() / size); });
    std::memcpy(sample.tree.bytes.data(), chunk_sums.data(), size);
  }
  return sample;
}

/// The running sum and the tree over the same input. Both are held to what rounding can do to a tree: that a running
/// sum may lose more is its weakness, no excuse.
Result measure_sums(const Result& common, const CpuKernel& kernel, const SamplingPlan& plan) {
  const std::size_t size = size_of(common.type);
  const std::size_t elements_held = std::min<std::uint64_t>(common.input.n, chunk_bytes / size);
  if (elements_held * size > available_host_bytes()) {
    throw DeviceError(fmt::format("the input needs {} of host memory at a time, and {} are free",
                                  bytes_text(static_cast<double>(elements_held * size)),
                                  bytes_text(static_cast<double>(available_host_bytes()))));
  }
  std::vector<std::byte> chunk(elements_held * size);
  std::vector<double> running_ms;
  std::vector<double> tree_ms;
  // One sample of warm-up, unless it would take long and matter little.
  Sample sample;
  if (common.input.n <= elements_held) sample = take_sample(kernel, common.input, common.type, chunk);
  const auto began = std::chrono::steady_clock::now();
  const auto seconds_spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  while (!enough_samples(plan, running_ms, seconds_spent())) {
    sample = take_sample(kernel, common.input, common.type, chunk);
    running_ms.push_back(sample.running_ms);
    tree_ms.push_back(sample.tree_ms);
  }

  const Reference reference = reference_sum(common.input, common.type);
  const std::uint64_t depth = tree_depth(common.input.n);
  const auto conclude = [&](const char* variant, const Value& value, const std::vector<double>& ms) {
    Result result = common;
    result.variant = variant;
    result.samples = ms.size();
    result.ms = summarise(ms);
    result.value = value;
    result.expected = to_value(reference);
    result.verdict = verify(value, reference, depth);
    return result;
  };
  Result result = conclude("running sum", sample.running, running_ms);
  result.other_variants.push_back(conclude("tree", sample.tree, tree_ms));
  return result;
}

/// What the next steps will sum on the device, but for the block size, which a CPU has not. Refuses what they will
/// refuse, before it has taken minutes.
std::vector<Configuration> plan_cpu_configurations(const Options& options, const Device& device) {
  auto planned = plan_configurations(options, device);
  if (options.sweep == Sweep::block) planned.resize(1);
  for (const Configuration& configuration : planned) {
    const std::size_t needed = configuration.elements * size_of(configuration.type);
    if (needed > device.available_bytes()) throw out_of_memory(configuration, needed, device);
  }
  return planned;
}

ExitCode run(std::string_view name, std::string_view title, const CpuKernels& kernels,
             const Options& options) {
  Report report(options);
  const SelectedDevice selected = select_device(options);
  Result common;
  common.step = name;
  common.title = title;
  common.device = describe_cpu();
  const auto planned = plan_cpu_configurations(options, *selected.device);
  report.begin(name, title, common.device, "");
  return run_configurations(report, planned, [&](const Configuration& configuration) {
    common.type = configuration.type;
    common.input = {options.data, options.seed, configuration.elements};
    return measure_sums(common, kernels[static_cast<std::size_t>(configuration.type)], {options.samples});
  });
}

}  // namespace

int run_cpu_step(std::string_view name, std::string_view title, const CpuKernels& kernels, int argc,
                 char** argv) {
  return exit_code_of(name, [&] {
    const auto options = parse_options(argc, argv, name, title);
    return options ? run(name, title, kernels, *options) : ExitCode::verified;
  });
}

}  // namespace reduction
