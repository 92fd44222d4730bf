#include "measure_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "combine.hpp"
#include "harness/configuration.hpp"
#include "harness/measurement_error.hpp"
#include "harness/passes.hpp"
#include "harness/sampling.hpp"
#include "shard.hpp"

namespace reduction {

namespace {

/// Threads a block, on the emulated device; reduce() chooses its own.
constexpr unsigned block = 256;

/// One pass's partial sums, or none where there is no such pass.
std::size_t partial_bytes(const std::vector<Pass>& passes, std::size_t k, ElementType type) {
  return k < passes.size() ? passes[k].blocks * size_of(type) : 0;
}

/// The most additions that an element of the longest shard may go through, and then those of the other ranks' sums: in
/// which order MPI or NCCL adds them is theirs to choose, and one after the other is the longest.
std::uint64_t most_additions(const StepKernel& kernel, const std::vector<Pass>& passes,
                             const DeviceInfo& device, int ranks) {
  const auto others = static_cast<std::uint64_t>(ranks - 1);
  if (device.kind == DeviceKind::emulated) return addition_depth(kernel, passes, block) + others;
  // As the harness does with a library: threads that fill the device, and trees of no more than 128 additions.
  return passes.front().elements / (std::size_t{1024} * std::max(1u, device.sms)) + 128 + others;
}

/// A rank's shard on its device, and all that it takes to reduce it again and again.
class ShardReduction {
 public:
  ShardReduction(const StepKernel& kernel, Device& device, const Input& input, ElementType type,
                 const Shard& shard)
      : kernel_(kernel),
        device_(device),
        passes_(plan_passes(kernel, shard.count, block)),
        partial_bytes_(partial_bytes(passes_, 0, type)),
        next_partial_bytes_(partial_bytes(passes_, 1, type)),
        in_(device, shard.count * size_of(type)),
        partial_(device, partial_bytes_),
        next_partial_(device, next_partial_bytes_) {
    device.fill(in_.data(), input, type, shard.first, shard.count);
  }

  const StepKernel& kernel() const { return kernel_; }
  const std::vector<Pass>& passes() const { return passes_; }

  void poison() {
    device_.poison(partial_.data(), partial_bytes_);
    device_.poison(next_partial_.data(), next_partial_bytes_);
  }

  /// Queues all passes and returns where their sum will be.
  const void* launch() {
    return launch_passes(kernel_, passes_, block, {in_.data(), partial_.data(), next_partial_.data()});
  }

 private:
  StepKernel kernel_;
  Device& device_;
  std::vector<Pass> passes_;
  std::size_t partial_bytes_;
  std::size_t next_partial_bytes_;
  DeviceBuffer in_;
  DeviceBuffer partial_;
  DeviceBuffer next_partial_;
};

/// Empties a GPU's L2 of the shard: the step's own kernel reads a buffer of twice its size.
class CacheFlush {
 public:
  CacheFlush(const StepKernel& kernel, Device& device, ElementType type)
      : kernel_(kernel),
        device_(device),
        element_bytes_(size_of(type)),
        elements_(device.timing_bytes() / size_of(type)),
        buffer_(device, device.timing_bytes()),
        sum_(device, size_of(type)) {
    device.poison(buffer_.data(), device.timing_bytes());
  }

  /// Returns when it is done.
  void operator()() {
    kernel_.launch(1, block, buffer_.data(), sum_.data(), elements_);
    Value ignored;
    device_.download(ignored.bytes.data(), sum_.data(), element_bytes_);
  }

 private:
  StepKernel kernel_;
  Device& device_;
  std::size_t element_bytes_;
  std::size_t elements_;
  DeviceBuffer buffer_;
  DeviceBuffer sum_;
};

/// Times `work` on all ranks, from a common start to the end of the slowest, in ms. `prepare` goes before each sample.
/// Every rank returns the same, and so all of them stop after the same sample.
std::vector<double> time_ranks(const Ranks& ranks, const SamplingPlan& plan,
                               const std::function<void()>& prepare, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  constexpr unsigned warm_up_runs = 3;
  for (unsigned run = 0; run < warm_up_runs; ++run)
    work();
  std::vector<double> samples;
  const auto began = Clock::now();
  double seconds_spent = 0;
  while (!enough_samples(plan, samples, seconds_spent)) {
    prepare();
    ranks.barrier();
    const auto start = Clock::now();
    work();
    const auto stop = Clock::now();
    std::vector<double> slowest{std::chrono::duration<double, std::milli>(stop - start).count(),
                                std::chrono::duration<double>(stop - began).count()};
    ranks.to_largest(slowest);
    samples.push_back(slowest[0]);
    seconds_spent = slowest[1];
  }
  return samples;
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
  const auto count = shard_of(n, 0, ranks).count;
  const auto passes = plan_passes(kernel, count, block);
  const std::size_t needed = count * size_of(line.type) + partial_bytes(passes, 0, line.type) +
                             partial_bytes(passes, 1, line.type) + device.timing_bytes();
  // The ranks of a node share the host's memory; a GPU is one rank's alone.
  const bool shared = device.info().kind == DeviceKind::emulated;
  const auto sharing = static_cast<std::size_t>(shared ? job.node().count() : 1);
  if (needed > device.available_bytes() / sharing)
    throw out_of_memory({line.type, count * sharing, block}, needed * sharing, device);
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

  ShardReduction shard(kernel, device, result.input, line.type, shard_of(n, ranks.rank(), ranks.count()));
  const CombineSettings settings{job, ranks, device, line.type, line.time_limit};
  std::unique_ptr<Combine> combine = on_gpu ? combine_by_nccl(settings) : nullptr;
  found.combined_by = combine ? nccl_name() : "MPI";
  if (!combine) combine = combine_by_mpi(settings);
  // Of the whole input: a shard that is missing, or counted twice, is an error that this finds.
  Reference reference;
  if (speaks) reference = reference_sum(result.input, line.type);
  const std::uint64_t depth = most_additions(shard.kernel(), shard.passes(), result.device, ranks.count());
  result.expected = to_value(reference);

  const auto poison = [&] {
    shard.poison();
    combine->poison();
  };
  const auto reduce_and_combine = [&] {
    combine->start(shard.launch());
    combine->wait();
  };
  // Rank 0 verifies every rank's copy of the sum, and shows the first that is wrong.
  const auto check = [&] {
    for (const Value& value : ranks.gather(combine->sum())) {
      result.value = value;
      result.verdict = verify(value, reference, depth);
      if (!result.verdict.verified) break;
    }
    ranks.broadcast(&result.verdict.verified, sizeof(result.verdict.verified));
  };

  poison();
  ranks.barrier();  // the time limit is no limit for the reference
  reduce_and_combine();
  check();
  if (!on_gpu || !result.verdict.verified) return found;

  CacheFlush flush(kernel, device, line.type);
  const auto prepare = [&] {
    poison();
    flush();
  };
  const std::vector<double> ms = time_ranks(ranks, {line.samples}, prepare, reduce_and_combine);
  check();
  result.samples = ms.size();
  result.ms = summarise(ms);
  if (speaks && found.percent_of_peak().value_or(0) > 100) {
    throw MeasurementError(
        fmt::format("{:.1f} GB/s a rank is more than the {:.1f} GB/s that its device can move: "
                    "the time is wrong",
                    *found.gbps_a_rank(), *result.device.peak_gbps));
  }
  return found;
}

}  // namespace reduction
