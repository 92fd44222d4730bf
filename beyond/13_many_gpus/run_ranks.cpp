#include "run_ranks.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <vector>

#include "combine.hpp"
#include "command_line.hpp"
#include "emulated/memory/peer_memory.hpp"
#include "harness/device.hpp"
#include "harness/exit_code.hpp"
#include "harness/reduction_plan.hpp"
#include "job.hpp"
#include "mailboxes.hpp"
#include "measure_ranks.hpp"
#include "own_gpu.hpp"
#include "rank_report.hpp"

namespace reduction {

namespace {

/// Opens a GPU for this rank.
std::unique_ptr<Device> open_own_gpu(Job& job) {
  const int ordinal = gpu_of(job.node().rank(), visible_cuda_devices());
  std::unique_ptr<Device> gpu = open_cuda_device(ordinal);
  job.name_device(fmt::format("{} (cuda:{})", gpu->info().name, ordinal));
  return gpu;
}

/// Throws the AgreedFailure of a DeviceError if two ranks of a node have the same GPU; by all.
void require_own_gpu(const Job& job, const DeviceInfo& gpu) {
  struct Owner {
    int rank;
    std::array<char, 64> uuid;
  };
  Owner self{job.ranks().rank(), {}};
  gpu.uuid.copy(self.uuid.data(), self.uuid.size() - 1);
  const std::vector<Owner> owners = job.node().gather(self);
  std::vector<std::string> uuids;
  for (const Owner& owner : owners)
    uuids.emplace_back(owner.uuid.data());
  const std::optional<Sharers> sharers = find_sharers(uuids);
  job.agree([&] {
    if (!sharers || owners[sharers->second].rank != self.rank) return;
    throw DeviceError(fmt::format(
        "it has the same GPU as rank {}, {} ({}): start no more ranks per machine than it has GPUs, "
        "give each rank its own (--gpus-per-task=1, CUDA_VISIBLE_DEVICES), or choose --device "
        "emulated",
        owners[sharers->first].rank, gpu.name, gpu.uuid));
  });
}

/// A device that is open, and why it is this one if the user left the choice and there is no GPU.
struct SelectedDevice {
  std::unique_ptr<Device> device;
  std::string note;
};

/// Opens a GPU for each rank, or the emulated device for all of them: by all.
SelectedDevice open_device(Job& job, DeviceChoice::Kind choice) {
  const std::string unavailable = cuda_unavailable_reason();
  const bool no_gpu_anywhere = job.ranks().smallest(unavailable.empty() ? 0 : 1) == 1;
  SelectedDevice selected;
  if (choice == DeviceChoice::Kind::emulated ||
      (choice == DeviceChoice::Kind::automatic && no_gpu_anywhere)) {
    selected.device = open_emulated_device();
    job.name_device(selected.device->info().name);
    if (choice == DeviceChoice::Kind::automatic) selected.note = "no CUDA device here: " + unavailable;
    return selected;
  }
  job.agree([&] { selected.device = open_own_gpu(job); });
  require_own_gpu(job, selected.device->info());
  return selected;
}

/// Throws AgreedFailure if the ranks' devices do not reach each other's memory. By all.
void require_reach(const Job& job, Device& device, const RankKernel& kernel) {
  std::string reason;
  {
    std::unique_ptr<Mailboxes> mailboxes;
    job.agree([&] { mailboxes = make_mailboxes(device, kernel); });
    if (mailboxes->share(job.ranks(), reason)) return;
  }
  job.agree([&] {
    if (!reason.empty()) throw DeviceError(reason);
  });
}

struct ChosenCombiner {
  Combiner who;
  std::string note;  ///< why it is not the kernels, if the user left the choice
};

/// Decides who combines. By all; throws AgreedFailure if it cannot be who was asked for.
ChosenCombiner choose_combiner(const Job& job, Device& device, Combiner asked_for, const RankKernel& kernel) {
  const bool on_gpu = device.info().kind == DeviceKind::cuda;
  const bool few_enough = static_cast<unsigned>(job.ranks().count()) <= kernel.most_neighbours;
  switch (asked_for) {
    case Combiner::mpi: return {Combiner::mpi, {}};
    case Combiner::nccl:
      job.agree([&] {
        if (!on_gpu) throw UsageError("--combine nccl: NCCL combines GPUs' sums only: choose kernels or mpi");
        if (!has_nccl())
          throw UsageError("--combine nccl: this program was built without NCCL: choose kernels or mpi");
      });
      return {Combiner::nccl, {}};
    case Combiner::kernels:
      job.agree([&] {
        if (!few_enough)
          throw UsageError(fmt::format("--combine kernels: at most {} ranks do so: choose nccl or mpi",
                                       kernel.most_neighbours));
      });
      try {
        require_reach(job, device, kernel);
      } catch (const AgreedFailure& failure) {
        throw AgreedFailure(failure.code,
                            fmt::format("--combine kernels: {}: choose nccl or mpi", failure.what()));
      }
      return {Combiner::kernels, {}};
    case Combiner::automatic: break;
  }
  const Combiner otherwise = on_gpu && has_nccl() ? Combiner::nccl : Combiner::mpi;
  if (!few_enough || job.ranks().nodes() != 1) return {otherwise, {}};
  try {
    require_reach(job, device, kernel);
    return {Combiner::kernels, {}};
  } catch (const AgreedFailure& failure) {
    return {otherwise, fmt::format("not combined in the kernels: {}", failure.what())};
  }
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

/// Measures the first ranks together: more and more of them.
void measure_groups(const Job& job, Device& device, const std::vector<int>& sizes,
                    const std::function<RankMeasurement(int)>& measurement_of,
                    std::optional<RankReport>& report) {
  const Ranks& ranks = job.ranks();
  std::optional<double> one_rank_gbps;
  for (const int size : sizes) {
    const Ranks group = ranks.part(0, size);
    if (ranks.rank() < size) {
      RankResult found = measure_ranks(job, group, device, measurement_of(size));
      if (size == 1) one_rank_gbps = found.result.gbps();
      found.one_rank_gbps = one_rank_gbps;
      if (report) report->add(found);
    }
    ranks.barrier(unlimited);  // these have nothing to do meanwhile, however long it takes
  }
}

/// Measures each rank by itself, while the others wait.
void measure_alone(const Job& job, Device& device, const RankMeasurement& measurement,
                   std::optional<RankReport>& report) {
  const Ranks& ranks = job.ranks();
  for (int rank = 0; rank < ranks.count(); ++rank) {
    const Ranks alone = ranks.part(rank, 1);
    RankRow row;
    ranks.barrier();  // a rank that is lost is seen before the turn of one that waits for nobody
    if (ranks.rank() == rank) row = row_of(measure_ranks(job, alone, device, measurement), rank);
    ranks.broadcast(row.table, rank, unlimited);
    ranks.broadcast(row.json, rank);
    ranks.broadcast(row.wrong, rank);
    if (report) report->add(row);
  }
}

ExitCode run(const RankStep& step, Job& job, int argc, char** argv) {
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

  job.wait_limit().set(line.time_limit);
  __emulated::set_peer_limit(line.time_limit);
  const SelectedDevice selected = open_device(job, line.device);
  Device& device = *selected.device;
  const bool on_gpu = device.info().kind == DeviceKind::cuda;
  const RankKernel& kernel = (on_gpu ? *step.cuda : *step.emulated)[static_cast<std::size_t>(line.type)];

  const std::uint64_t elements = ranks.smallest(
      line.elements ? *line.elements : default_elements(device.info().kind, device.memory(), line.type));
  const auto elements_of = [&](int size) {
    return line.weak ? elements * static_cast<std::uint64_t>(size) : elements;
  };
  const std::vector<int> sizes = group_sizes(line, ranks.count());
  job.agree([&] {
    for (const int size : sizes) {
      if (ranks.rank() < size)
        require_memory_for_shard(job, device, kernel, {line.type, elements_of(size)}, size);
    }
  });
  // Alone, nobody combines: who could need not be tried.
  const bool combines = !line.alone || line.combine != Combiner::automatic;
  const ChosenCombiner combiner =
      combines ? choose_combiner(job, device, line.combine, kernel) : ChosenCombiner{Combiner::kernels, {}};
  const auto measurement_of = [&](int size) {
    return RankMeasurement{step, line, kernel, combiner.who, elements_of(size)};
  };

  if (speaks)
    report->begin(step, ranks.count(), ranks.nodes(), device.info(), {selected.note, combiner.note});
  if (line.alone) {
    RankMeasurement own = measurement_of(ranks.count());
    own.n = own.shard(0, ranks.count()).count;
    own.combine = Combiner::kernels;  // with nobody
    measure_alone(job, device, own, report);
  } else {
    measure_groups(job, device, sizes, measurement_of, report);
  }
  ExitCode code = ExitCode::verified;
  if (speaks) code = report->finish();
  ranks.broadcast(&code, sizeof(code));
  return code;
}

}  // namespace

int run_ranks(const RankStep& step, int argc, char** argv) {
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
