#include "measure_ranks.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "combine.hpp"
#include "harness/device_reduction.hpp"
#include "harness/exit_code.hpp"
#include "harness/reduction_plan.hpp"
#include "harness/sampling.hpp"
#include "shard.hpp"

namespace reduction {

namespace {

/// Plans the reduction of one rank's elements. reduce() chooses its own blocks; on the emulated device they have 256
/// threads.
ReductionPlan plan_shard(const StepKernel& kernel, const Device& device, ElementType type,
                         const Shard& shard) {
  return plan_reduction(kernel, {type, shard.count, 256}, device.info());
}

/// Times reduction and combination, from a common start to the end of the slowest rank, in ms. Every rank returns the
/// same, and so all of them stop after the same sample.
std::vector<double> time_ranks(const Ranks& ranks, const SamplingPlan& plan, DeviceReduction& reduction,
                               Combine& combine, Device& device) {
  const TimingMethod method;
  const std::unique_ptr<SampleTimer> l2 = device.make_timer(method);
  for (unsigned run = 0; run < method.warm_up_runs; ++run) {
    combine.start(reduction.launch());
    combine.wait();
  }
  const Stopwatch began;
  const auto take_sample = [&] {
    reduction.poison();
    combine.poison();
    l2->empty_l2();
    device.synchronize();
    ranks.barrier();
    const Stopwatch sample;
    combine.start(reduction.launch());
    combine.wait();
    return ranks.largest(sample.ms());
  };
  return take_samples(plan, take_sample, [&] { return ranks.largest(began.seconds()); });
}

}  // namespace

std::optional<double> RankResult::gbps_a_rank() const {
  if (!result.gbps()) return std::nullopt;
  return *result.gbps() / ranks;
}

std::optional<double> RankResult::times_one_rank() const {
  if (!result.gbps() || one_rank_gbps.value_or(0) <= 0) return std::nullopt;
  return *result.gbps() / *one_rank_gbps;
}

std::optional<double> RankResult::percent_of_peak() const {
  if (!result.percent_of_peak()) return std::nullopt;
  return *result.percent_of_peak() / ranks;
}

void require_memory_for_shard(const Job& job, const StepKernel& kernel, const Device& device,
                              const CommandLine& line, std::uint64_t n, int ranks) {
  // The ranks of a node share the host's memory; a GPU is one rank's alone.
  const bool shared = device.info().kind == DeviceKind::emulated;
  const ReductionPlan plan = plan_shard(kernel, device, line.type, shard_of(n, 0, ranks));
  require_memory(plan, device, static_cast<std::size_t>(shared ? job.node().count() : 1));
  require_possible_grids(plan);
}

RankResult measure_ranks(const Job& job, const Ranks& ranks, const Step& step, const StepKernel& kernel,
                         Device& device, const CommandLine& line, std::uint64_t n) {
  RankResult found;
  Result& result = found.result;
  result.step = step.name;
  result.title = step.title;
  result.device = device.info();
  result.type = line.type;
  result.input = {line.data, line.seed, n};
  const bool on_gpu = result.device.kind == DeviceKind::cuda;
  const bool speaks = ranks.rank() == 0;
  found.ranks = ranks.count();
  found.nodes = ranks.count_nodes();
  found.elements_a_rank = shard_of(n, 0, ranks.count()).count;

  const Shard shard = shard_of(n, ranks.rank(), ranks.count());
  const ReductionPlan plan = plan_shard(kernel, device, line.type, shard);
  DeviceReduction reduction(device, plan, result.input, shard.first);
  const CombineSettings settings{job, ranks, device, line.type, line.time_limit};
  std::unique_ptr<Combine> combine = on_gpu ? combine_by_nccl(settings) : nullptr;
  found.combined_by = combine ? nccl_name() : "MPI";
  if (!combine) combine = combine_by_mpi(settings);
  // Of the whole input: a shard that is missing, or counted twice, is an error that this finds.
  Reference reference;
  if (speaks) reference = reference_sum(result.input, line.type);
  result.expected = to_value(reference);
  // In which order MPI or NCCL adds the ranks' sums is theirs to choose, and one after the other is the longest.
  const std::uint64_t most_additions = plan.most_additions + static_cast<std::uint64_t>(ranks.count() - 1);

  // Rank 0 verifies every rank's copy of the sum, and shows the first that is wrong.
  const auto check = [&] {
    for (const Value& value : ranks.gather(combine->sum())) {
      result.value = value;
      result.verdict = verify(value, reference, most_additions);
      if (!result.verdict.verified) break;
    }
    ranks.broadcast(&result.verdict.verified, sizeof(result.verdict.verified));
  };

  reduction.poison();
  combine->poison();
  ranks.barrier();  // the time limit is no limit for the reference
  combine->start(reduction.launch());
  combine->wait();
  check();
  if (!on_gpu || !result.verdict.verified) return found;

  const std::vector<double> ms = time_ranks(ranks, {line.samples}, reduction, *combine, device);
  check();
  result.samples = ms.size();
  result.ms = summarise(ms);
  if (speaks && found.percent_of_peak().value_or(0) > 100) {
    throw MeasurementError(
        fmt::format("{:.1f} GB/s per rank are more than the {:.1f} GB/s that its device can move: "
                    "the time is wrong",
                    *found.gbps_a_rank(), *result.device.peak_gbps));
  }
  return found;
}

}  // namespace reduction
