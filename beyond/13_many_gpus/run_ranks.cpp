#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "emulated/memory/peer_memory.hpp"
#include "harness/report.hpp"
#include "measure_ranks.hpp"

namespace reduction {

namespace {

constexpr const char* no_reach = "a device does not reach another's memory";

/// A step's options, and those of ranks only.
struct RankOptions : Options {
  bool weak = false;     ///< `elements` are those of each rank, not of all together
  bool scaling = false;  ///< 1, 2, 4, ... ranks, one after the other
  Combiner combiner = Combiner::automatic;
  std::chrono::seconds time_limit{60};
};

RankOptions parse(int argc, const char* const* argv, const RankStep& step) {
  RankOptions options;
  const auto add_own = [&](OptionParser& app) {
    app.add_flag("--weak", "ranks: COUNT is what each rank has, not all of them together", options.weak);
    app.add_flag("--scaling", "ranks: a row for 1, 2, 4, ... of them, and for all", options.scaling);
    app.add("--combine", "WHO",
            "ranks: makes one sum of theirs: kernels (in memory that all devices reach), nccl, mpi (on the "
            "host) or auto "
            "(default: kernels where all devices reach each other's memory, else nccl for GPUs, else mpi)",
            options.combiner,
            one_of<Combiner>({{"auto", Combiner::automatic},
                              {"kernels", Combiner::kernels},
                              {"nccl", Combiner::nccl},
                              {"mpi", Combiner::mpi}}));
    app.add("--time-limit", "SECONDS",
            "ranks: how long one waits for the others before it ends the job; default 60", options.time_limit,
            number(1, 86'400));
  };
  static_cast<Options&>(options) = parse_options(argc, argv, step.name, step.title, {}, add_own);
  if (!options.trace.file.empty()) throw UsageError("--trace is of one device: take another step");
  if (options.grid || options.timing.back_to_back != 1)
    throw UsageError("--grid and --back-to-back are of one device: take another step");
  if (options.device.ordinal != 0) throw UsageError("--device: each rank takes a GPU of its own: give cuda");
  if (options.scaling && !options.sweep) options.sweep = Sweep::ranks;
  return options;
}

/// Opens a GPU for this rank, and not the same as for another one; by all.
std::unique_ptr<Device> open_own_gpu(Job& job) {
  job.name_device("no device yet");
  // Ranks of a machine see the same GPUs, or each its own only, as with srun --gpus-per-task=1.
  const int ordinal = job.node().rank() % std::max(1, visible_cuda_devices());
  std::unique_ptr<Device> gpu = open_cuda_device(ordinal);
  job.name_device(fmt::format("{} (cuda:{})", gpu->info().name, ordinal));
  // Only the UUIDs tell: a GPU's number depends on what its rank sees.
  std::array<char, 64> uuid{};
  gpu->info().uuid.copy(uuid.data(), uuid.size() - 1);
  const auto uuids = job.node().gather(uuid);
  const auto owner = std::ranges::find(uuids, uuid) - uuids.begin();
  if (owner == job.node().rank()) return gpu;
  throw DeviceError(fmt::format(
      "it has the same GPU as rank {} of this machine: start no more ranks per machine than it has GPUs, "
      "give each rank its own (--gpus-per-task=1, CUDA_VISIBLE_DEVICES), or choose --device emulated",
      owner));
}

/// Opens a GPU for each rank, or the emulated device for all of them: by all. The note says why there is no GPU.
std::unique_ptr<Device> open_device(Job& job, const Options& options, std::string& note) {
  using Kind = DeviceChoice::Kind;
  const std::string unavailable = cuda_unavailable_reason();
  const bool no_gpu_anywhere = job.ranks().smallest(unavailable.empty() ? 0 : 1) == 1;
  if (options.device.kind == Kind::cuda || (options.device.kind == Kind::automatic && !no_gpu_anywhere))
    return open_own_gpu(job);
  if (options.device.kind == Kind::automatic) note = "no CUDA device here: " + unavailable;
  std::unique_ptr<Device> device = open_emulated_device(options.emulation);
  job.name_device(device->info().name);
  return device;
}

/// Decides who combines; by all. The note says why it is not the kernels, where GPUs of one machine could have been expected to.
Combiner choose_combiner(const Job& job, Device& device, const RankKernel& kernel, Combiner asked_for,
                         std::string& note) {
  const bool on_gpu = device.info().kind == DeviceKind::cuda;
  const bool may_reach =
      job.is_on_one_node() && static_cast<unsigned>(job.ranks().count()) <= kernel.most_neighbours;
  if (asked_for == Combiner::nccl && !on_gpu)
    throw UsageError("--combine nccl: NCCL combines GPUs' sums only: choose kernels or mpi");
  if (asked_for == Combiner::nccl && !has_nccl())
    throw UsageError("--combine nccl: this program was built without NCCL: choose kernels or mpi");
  if (asked_for == Combiner::kernels && !may_reach) {
    throw UsageError(
        fmt::format("--combine kernels: at most {} ranks on one machine do so: choose nccl or mpi",
                    kernel.most_neighbours));
  }
  if (asked_for == Combiner::nccl || asked_for == Combiner::mpi) return asked_for;
  if (may_reach) {
    if (make_mailboxes(device, kernel)->share(job.ranks())) return Combiner::kernels;
    if (asked_for == Combiner::kernels)
      throw DeviceError(fmt::format("--combine kernels: {}: choose nccl or mpi", no_reach));
    note = fmt::format("not combined in the kernels: {}", no_reach);
  }
  return on_gpu && has_nccl() ? Combiner::nccl : Combiner::mpi;
}

/// Lists what the command line asks for, the same on all ranks, before the first of it runs: by all.
std::vector<RankMeasurement> plan(const Job& job, const Device& device, const RankStep& step,
                                  const RankKernels& kernels, const RankOptions& options, Combiner combiner) {
  Memory memory = device.memory();
  memory.free_bytes = job.ranks().smallest(memory.free_bytes);
  const int most = job.ranks().count();
  std::vector<Configuration> configurations = plan_configurations(options, device.info().kind, memory);
  if (options.sweep == Sweep::block) configurations.resize(1);  // the kernels choose their launch
  std::vector<RankMeasurement> planned;
  for (const auto& [type, elements, block] : configurations) {
    for (int ranks = options.scaling ? 1 : most;; ranks = std::min(2 * ranks, most)) {
      const std::uint64_t n = options.weak ? elements * static_cast<std::uint64_t>(ranks) : elements;
      const RankKernel& kernel = kernels[static_cast<std::size_t>(type)];
      planned.push_back({step, options, kernel, type, combiner, ranks, n, options.weak});
      if (job.ranks().rank() < ranks) require_memory_for_shard(job, device, planned.back());
      if (ranks == most) break;
    }
  }
  return planned;
}

ExitCode run(const RankStep& step, Job& job, int argc, char** argv) {
  const Ranks& ranks = job.ranks();
  const RankOptions options = parse(argc, argv, step);
  if (!options.answer.empty()) {
    if (ranks.rank() == 0) print(stdout, options.answer);
    return ExitCode::verified;
  }
  std::optional<Report> report;
  // mpirun gives it a terminal, whatever mpirun's own output goes to.
  if (ranks.rank() == 0) report.emplace(options, false);

  job.wait_limit().set(options.time_limit);
  __emulated::set_peer_limit(options.time_limit);
  std::string note;
  const std::unique_ptr<Device> device = open_device(job, options, note);
  const RankKernels& kernels = device->info().kind == DeviceKind::cuda ? *step.cuda : *step.emulated;
  const Combiner combiner = choose_combiner(job, *device, kernels.front(), options.combiner, note);
  const std::vector<RankMeasurement> planned = plan(job, *device, step, kernels, options, combiner);

  if (report) report->begin(step.name, step.title, device->info(), note);
  std::optional<double> one_rank_gbps;
  for (const RankMeasurement& measurement : planned) {
    const Ranks group = ranks.first(measurement.ranks);
    if (ranks.rank() < measurement.ranks) {
      Result found = measure_ranks(job, group, *device, measurement);
      if (measurement.ranks == 1) one_rank_gbps = found.gbps();
      found.shared->one_rank_gbps = one_rank_gbps;
      if (report) report->add(found);
    }
    ranks.barrier(unlimited);  // the others have nothing to do meanwhile, however long it takes
  }
  return report ? report->finish() : ExitCode::verified;
}

}  // namespace

int run_ranks(const RankStep& step, int argc, char** argv) {
  prepare_standard_streams();
  Job job(step.name, argc, argv);
  try {
    const ExitCode code = run(step, job, argc, argv);
    return exit_code_of(step.name, [&] { return code; });
  } catch (...) {
    job.abort_with_current_exception();
  }
}

}  // namespace reduction
