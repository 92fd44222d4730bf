#include "harness/cpu_step.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "harness/exit_code.hpp"
#include "harness/memory.hpp"
#include "harness/reduction_plan.hpp"
#include "harness/report.hpp"
#include "harness/sampling.hpp"
#include "harness/verification.hpp"

namespace reduction {

namespace {

/// The input is summed chunk by chunk, so that 64 GiB of it do not need 64 GiB of memory. A chunk has a power of two of
/// elements, so that the chunks' trees are the lower levels of the tree over all of them.
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
    const Stopwatch running;
    kernel.add_running_sum(sample.running.bytes.data(), chunk.data(), count);
    sample.running_ms += running.ms();
    const Stopwatch tree;
    kernel.sum_tree(chunk.data(), count);
    sample.tree_ms += tree.ms();
    chunk_sums.insert(chunk_sums.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(size));
  }
  if (input.n > 0) {
    const Stopwatch tree;
    kernel.sum_tree(chunk_sums.data(), chunk_sums.size() / size);
    sample.tree_ms += tree.ms();
    std::memcpy(sample.tree.bytes.data(), chunk_sums.data(), size);
  }
  return sample;
}

/// Measures the running sum and the tree over the same input. Both must meet the tolerance of a tree: that a running
/// sum may lose more is its weakness, not an excuse.
Result measure_sums(const Result& common, const CpuKernel& kernel,
                    const std::optional<std::size_t>& samples) {
  const std::size_t size = size_of(common.type);
  const std::size_t elements_held = std::min<std::uint64_t>(common.input.n, chunk_bytes / size);
  std::vector<std::byte> chunk(elements_held * size);
  // One sample of warm-up, unless it would take long and matter little.
  Sample sample;
  if (common.input.n <= elements_held) sample = take_sample(kernel, common.input, common.type, chunk);
  std::vector<double> tree_ms;
  const std::vector<double> running_ms = take_samples(samples, [&] {
    sample = take_sample(kernel, common.input, common.type, chunk);
    tree_ms.push_back(sample.tree_ms);
    return sample.running_ms;
  });

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

/// Lists what the next steps will sum on the device; a CPU has no block size. Refuses what they will refuse, before it
/// has taken minutes.
std::vector<Configuration> plan_cpu_configurations(const Options& options) {
  const ChosenDevice chosen = choose_device(options.device);
  const Memory memory =
      chosen.kind == DeviceKind::cuda ? open_cuda_device(chosen.ordinal)->memory() : emulated_memory();
  auto planned = plan_configurations(options, chosen.kind, memory);
  if (options.sweep == Sweep::block) planned.resize(1);
  for (const auto& [type, elements, block] : planned)
    require_memory(elements, type, elements * size_of(type), memory);
  return planned;
}

ExitCode run(const CpuStep& step, const Options& options) {
  Report report(options);
  const auto planned = plan_cpu_configurations(options);
  Result common;
  common.step = step.name;
  common.title = step.title;
  common.device = describe_cpu();
  report.begin(step.name, step.title, common.device, "");
  for (const Configuration& configuration : planned) {
    if (!report.expect(configuration, planned.size())) break;
    common.type = configuration.type;
    common.input = {options.data, options.seed, configuration.elements};
    report.add(
        measure_sums(common, step.kernels[static_cast<std::size_t>(configuration.type)], options.samples));
  }
  return report.finish();
}

}  // namespace

int run_cpu_step(const CpuStep& step, int argc, char** argv) {
  return exit_code_of(step.name, [&] {
    const Options options = parse_options(argc, argv, step.name, step.title);
    if (!options.trace.file.empty())
      throw UsageError("--trace is of a block of threads, and the CPU has none: take 01 or later");
    if (options.answer.empty()) return run(step, options);
    print(stdout, options.answer);
    return ExitCode::verified;
  });
}

}  // namespace reduction
