#include "run_ranks.hpp"

#include <fmt/format.h>

#include <vector>

#include "command_line.hpp"
#include "harness/configuration.hpp"
#include "harness/device_selection.hpp"
#include "harness/standard_streams.hpp"
#include "job.hpp"
#include "measure_ranks.hpp"
#include "rank_report.hpp"

namespace reduction {

namespace {

/// Opens the GPU whose number is that of this rank on its node.
std::unique_ptr<Device> open_own_gpu(const Job& job) {
  const std::string unavailable = cuda_unavailable_reason();
  try {
    return open_cuda_device(job.node().rank());
  } catch (const DeviceError& error) {
    if (!unavailable.empty()) throw;
    throw DeviceError(
        fmt::format("{}, and {} ranks run on it: start no more than it has GPUs, or choose --device "
                    "emulated",
                    error.what(), job.node().count()));
  }
}

/// Opens a GPU for each rank, or the emulated device for all of them: by all.
SelectedDevice open_device(const Job& job, DeviceChoice::Kind choice) {
  const std::string unavailable = cuda_unavailable_reason();
  const bool no_gpu_anywhere = job.ranks().smallest(unavailable.empty() ? 0 : 1) == 1;
  if (choice == DeviceChoice::Kind::emulated) return {open_emulated_device(), ""};
  if (choice == DeviceChoice::Kind::automatic && no_gpu_anywhere)
    return {open_emulated_device(), "no CUDA device here: " + unavailable};
  SelectedDevice selected;
  job.agree([&] { selected.device = open_own_gpu(job); });
  return selected;
}

/// Lists how many ranks take part, one run after the other.
std::vector<int> group_sizes(const CommandLine& line, int ranks) {
  std::vector<int> sizes;
  if (line.scaling) {
    for (int size = 1; size < ranks; size *= 2)
      sizes.push_back(size);
  }
  sizes.push_back(ranks);
  return sizes;
}

ExitCode run(const Step& step, Job& job, int argc, char** argv) {
  job.require_same_words(argc, argv);
  const Ranks& ranks = job.ranks();
  const bool speaks = ranks.rank() == 0;
  CommandLine line;
  std::optional<RankReport> report;
  job.agree([&] {
    line = parse_command_line(argc, argv, step.name, step.title);
    if (speaks && line.answer.empty()) report.emplace(line);
  });
  if (!line.answer.empty()) {
    if (speaks) print(stdout, line.answer);
    return ExitCode::verified;
  }

  const SelectedDevice selected = open_device(job, line.device);
  Device& device = *selected.device;
  const bool on_gpu = device.info().kind == DeviceKind::cuda;
  job.name_device(on_gpu ? fmt::format("{} (cuda:{})", device.info().name, job.node().rank())
                         : device.info().name);
  const StepKernel& kernel = (on_gpu ? *step.cuda : *step.emulated)[static_cast<std::size_t>(line.type)];

  const std::uint64_t elements =
      ranks.smallest(line.elements ? *line.elements : default_elements(room_of(device), line.type));
  const auto elements_of = [&](int size) {
    return line.weak ? elements * static_cast<std::uint64_t>(size) : elements;
  };
  const std::vector<int> sizes = group_sizes(line, ranks.count());
  job.agree([&] {
    for (const int size : sizes) {
      if (ranks.rank() < size) require_memory_for_shard(job, kernel, device, line, elements_of(size), size);
    }
  });

  const int nodes = ranks.count_nodes();
  if (speaks) report->begin(step, ranks.count(), nodes, device.info(), selected.note);
  std::optional<double> one_rank_gbps;
  for (const int size : sizes) {
    const Ranks group = ranks.first(size);
    if (ranks.rank() < size) {
      RankResult found = measure_ranks(job, group, step, kernel, device, line, elements_of(size));
      if (size == 1) one_rank_gbps = found.result.gbps();
      found.one_rank_gbps = one_rank_gbps;
      if (speaks) report->add(found);
    }
    ranks.barrier();
  }
  ExitCode code = ExitCode::verified;
  if (speaks) code = report->finish();
  ranks.broadcast(&code, sizeof(code));
  return code;
}

}  // namespace

int run_ranks(const Step& step, int argc, char** argv) {
  prepare_standard_streams();
  Job job(step.name, argc, argv);
  const bool speaks = job.ranks().rank() == 0;
  try {
    const ExitCode code = run(step, job, argc, argv);
    return speaks ? exit_code_of(step.name, [&] { return code; }) : static_cast<int>(code);
  } catch (const AgreedFailure& failure) {
    if (!speaks) return static_cast<int>(failure.code);
    return exit_code_of(step.name, [&]() -> ExitCode {
      if (failure.code == ExitCode::bad_usage) throw UsageError(failure.what());
      throw DeviceError(failure.what());
    });
  } catch (...) {
    job.abort_with_current_exception();
  }
}

}  // namespace reduction
