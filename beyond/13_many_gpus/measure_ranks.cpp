#include "measure_ranks.hpp"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "combine.hpp"
#include "emulated/memory/peer_memory.hpp"
#include "harness/exit_code.hpp"
#include "harness/memory.hpp"
#include "harness/sampling.hpp"

namespace reduction {

namespace {

/// Makes the one that the command line asks for. By all.
std::unique_ptr<Combine> make_combine(const CombineSettings& settings, Combiner combiner) {
  switch (combiner) {
    case Combiner::kernels: return combine_in_kernels(settings);
    case Combiner::nccl: return combine_by_nccl(settings);
    default: return combine_by_mpi(settings);
  }
}

/// Returns the reference of the whole input. Every rank sums chunks from all over it, not its shard: a shard that is
/// missing, or counted twice, is an error that this finds. By all.
Reference reference_of(const Ranks& ranks, const Input& input, ElementType type) {
  const Stopwatch own;
  const ReferencePart part{static_cast<std::uint64_t>(ranks.rank()),
                           static_cast<std::uint64_t>(ranks.count())};
  const Reference sum_of_part = reference_sum(input, type, part);
  Reference total{type};
  for (const Reference& sum :
       ranks.gather(sum_of_part, Seconds(own.seconds())))  // it may take others twice as long
    total.add(sum);
  return total;
}

constexpr const char* no_sum = "the sum of all GPUs did not come";

/// One rank's part of the sum of n elements.
class RankReduction {
 public:
  RankReduction(const Ranks& ranks, Device& device, const RankMeasurement& measurement, Combine& combine)
      : kernel_(measurement.kernel),
        combine_(combine),
        shard_(measurement.shard(ranks.rank(), ranks.count())),
        n_(measurement.combine == Combiner::kernels ? measurement.n : shard_.count),
        in_(device, shard_.count * size_of(measurement.line.type)),
        sum_(device, size_of(measurement.line.type)),
        device_(device),
        limit_(ranks.limit()),
        type_(measurement.line.type) {
    device.fill(in_.data(), {measurement.line.data, measurement.line.seed, measurement.n}, type_,
                shard_.first, shard_.count);
  }

  /// Returns the most additions that an element goes through in this rank's kernels.
  std::uint64_t most_additions() const { return kernel_.most_additions(n_); }

  /// Overwrites the sum with a pattern that is no plausible one.
  void poison() { device_.poison(sum_.data(), size_of(type_)); }

  /// Queues kernels and combination; by all.
  void start() {
    // A GPU's launch returns before it has ended, or soon after (CUDA_LAUNCH_BLOCKING=1); an emulated one takes its time.
    std::optional<WaitLimit::Wait> wait;
    if (device_.info().kind == DeviceKind::cuda) wait.emplace(limit_, no_sum);
    kernel_.launch(combine_.neighbours(), in_.data(), sum_.data(), n_);
    combine_.start(sum_.data());
  }

 private:
  const RankKernel& kernel_;
  Combine& combine_;
  Shard shard_;
  std::uint64_t n_;  ///< that the kernels sum, with those of all neighbours
  DeviceBuffer in_;
  DeviceBuffer sum_;
  Device& device_;
  WaitLimit& limit_;
  ElementType type_;
};

/// How samples were taken, and their times in ms, which are the same on all ranks.
struct RankSamples {
  std::vector<double> ms;
  std::optional<TimingMethod> by_device;  ///< none: by the hosts' clocks
};

/// Times by the devices' clocks: all devices meet, and each has its clock run from there until it has the sum of all. A sample
/// is the slowest one's. None of it is launched, by any host, while the clocks run. Throws SampleNotQueued, on all ranks, where
/// a device does not wait for its host.
std::vector<double> time_by_devices(const Ranks& ranks, const std::optional<std::size_t>& samples,
                                    const TimingMethod& method, RankReduction& reduction, Combine& combine,
                                    Device& device) {
  const std::unique_ptr<SampleTimer> timer = device.make_timer(method);
  const auto time_once = [&] {
    const WaitLimit::Wait wait(ranks.limit(), no_sum);
    reduction.poison();
    timer->start([&] { combine.meet(); });
    reduction.start();
    return timer->stop([&] { combine.wait(); });
  };
  const auto take_sample = [&] {
    double ms = 0;
    bool was_queued = true;
    try {
      ms = time_once();
    } catch (const SampleNotQueued&) {
      was_queued = false;
    }
    if (ranks.largest(was_queued ? 0 : 1) != 0) throw SampleNotQueued{};
    return ranks.largest(ms);
  };
  return take_samples(
      samples, [&] { return take_queued_sample(take_sample); },
      [&](double seconds) { return ranks.largest(seconds); });
}

/// Times by the hosts' clocks, from a barrier to the end of the slowest rank: launches are in the times, and how far apart the
/// ranks leave the barrier.
std::vector<double> time_by_hosts(const Ranks& ranks, const std::optional<std::size_t>& samples,
                                  const TimingMethod& method, RankReduction& reduction, Combine& combine,
                                  Device& device) {
  const std::unique_ptr<SampleTimer> l2 = device.make_timer(method);
  const auto take_sample = [&] {
    reduction.poison();
    l2->empty_l2();
    device.synchronize();
    ranks.barrier();
    const Stopwatch sample;
    reduction.start();
    combine.wait();
    return ranks.largest(sample.ms());
  };
  return take_samples(samples, take_sample, [&](double seconds) { return ranks.largest(seconds); });
}

RankSamples time_ranks(const Ranks& ranks, const CommandLine& line, RankReduction& reduction,
                       Combine& combine, Device& device) {
  const TimingMethod method;
  for (unsigned run = 0; run < method.warm_up_runs; ++run) {
    reduction.start();
    combine.wait();
  }
  const auto can_meet = [&] {
    const WaitLimit::Wait wait(ranks.limit(), "the other GPUs did not come");
    if (!combine.meet()) return false;
    combine.wait();
    return true;
  };
  if (!line.host_clock && can_meet()) {
    try {
      return {time_by_devices(ranks, line.samples, method, reduction, combine, device), method};
    } catch (const SampleNotQueued&) {  // as with CUDA_LAUNCH_BLOCKING=1
    }
  }
  return {time_by_hosts(ranks, line.samples, method, reduction, combine, device), std::nullopt};
}

}  // namespace

std::optional<double> RankResult::gbps_per_rank() const {
  if (!result.gbps()) return std::nullopt;
  return *result.gbps() / ranks;
}

std::optional<double> RankResult::times_one_rank() const {
  if (!result.gbps() || one_rank_gbps.value_or(0) <= 0) return std::nullopt;
  return *result.gbps() / *one_rank_gbps;
}

Shard RankMeasurement::shard(int rank, int count) const {
  if (combine == Combiner::kernels)
    return kernel.shard(n, static_cast<unsigned>(rank), static_cast<unsigned>(count));
  return shard_of(n, rank, count);
}

void require_memory_for_shard(const Job& job, const Device& device, const RankKernel& kernel,
                              const WholeInput& input, int count) {
  // The ranks of a node share the host's memory; a GPU is one rank's alone.
  const bool is_shared = device.info().kind == DeviceKind::emulated;
  const auto sharers = static_cast<std::size_t>(is_shared ? job.node().count() : 1);
  Memory memory = device.memory();
  memory.own_bytes *= sharers;
  const auto require = [&](std::uint64_t longest) {
    const std::size_t bytes = longest * size_of(input.type) + kernel.mailbox_bytes + kernel.partial_bytes;
    require_memory(longest * sharers, input.type, bytes * sharers, memory);
  };
  require(shard_of(input.n, 0, count).count);  // before chunks are made of it, which cannot be of any size
  if (static_cast<unsigned>(count) <= kernel.most_neighbours)
    require(kernel.shard(input.n, 0, static_cast<unsigned>(count)).count);
}

RankResult measure_ranks(const Job& job, const Ranks& ranks, Device& device,
                         const RankMeasurement& measurement) {
  const CommandLine& line = measurement.line;
  RankResult found;
  Result& result = found.result;
  result.step = measurement.step.name;
  result.title = measurement.step.title;
  result.device = device.info();
  result.type = line.type;
  result.input = {line.data, line.seed, measurement.n};
  const bool speaks = ranks.rank() == 0;
  result.devices = found.ranks = ranks.count();
  found.nodes = ranks.nodes();

  const CombineSettings settings{ranks, device, measurement.kernel, line.type};
  const std::unique_ptr<Combine> combine = make_combine(settings, measurement.combine);
  found.combined_by = combine->name();
  RankReduction reduction(ranks, device, measurement, *combine);
  found.elements_per_rank = measurement.shard(0, ranks.count()).count;

  // Nothing is unwound from here on: to release what a kernel uses would wait for that kernel, which may wait for ever.
  try {
    const Reference reference = reference_of(ranks, result.input, line.type);
    result.expected = to_value(reference);
    // In which order MPI or NCCL adds the ranks' sums is theirs to choose, and one after the other is the longest.
    const std::uint64_t most_additions =
        reduction.most_additions() + static_cast<std::uint64_t>(ranks.count() - 1);

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
    ranks.barrier();  // the time limit is no limit for the reference
    reduction.start();
    combine->wait();
    check();
    if (result.device.kind != DeviceKind::cuda || !result.verdict.verified) return found;

    const RankSamples samples = time_ranks(ranks, line, reduction, *combine, device);
    check();
    result.samples = samples.ms.size();
    result.ms = summarise(samples.ms);
    result.timing = samples.by_device;
    if (speaks && result.percent_of_peak().value_or(0) > 100) {
      throw MeasurementError(
          fmt::format("{:.1f} GB/s per rank are more than the {:.1f} GB/s that its device can move: "
                      "the time is wrong",
                      *found.gbps_per_rank(), *result.device.peak_gbps));
    }
  } catch (const __emulated::NoWordFromPeers&) {
    job.end_too_late("the sums of the other ranks did not come");
  } catch (...) {
    job.abort_with_current_exception();
  }
  return found;
}

}  // namespace reduction
