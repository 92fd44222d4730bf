#include "measure_ranks.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "emulated/memory/peer_memory.hpp"
#include "harness/memory.hpp"
#include "harness/sampling.hpp"

namespace reduction {

namespace {

constexpr const char* no_sum = "the sum of all GPUs did not come";

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

/// One rank's part of the sum of n elements.
class RankReduction {
 public:
  RankReduction(const Ranks& ranks, Device& device, const RankMeasurement& measurement)
      : kernel_(measurement.kernel),
        device_(device),
        limit_(ranks.limit()),
        combine_(make_combine({ranks, device, kernel_, measurement.type}, measurement.combiner)),
        shard_(kernel_.shard(measurement.n, static_cast<unsigned>(ranks.rank()),
                             static_cast<unsigned>(ranks.count()))),
        n_(measurement.combiner == Combiner::kernels ? measurement.n : shard_.count),
        element_bytes_(size_of(measurement.type)),
        in_(device, shard_.count * element_bytes_) {
    const Input input{measurement.options.data, measurement.options.seed, measurement.n};
    device.fill(in_.data(), input, measurement.type, shard_.first, shard_.count);
  }

  Combine& combine() const { return *combine_; }

  /// Returns the most additions that an element goes through in this rank's kernels.
  std::uint64_t most_additions() const { return kernel_.most_additions(n_); }

  /// Overwrites the sum with a pattern that is no plausible one.
  void poison() { device_.poison(combine_->sum(), element_bytes_); }

  /// Queues kernels and combination; by all.
  void start() {
    // A GPU's launch returns before it has ended, or soon after (CUDA_LAUNCH_BLOCKING=1); an emulated one takes its time.
    std::optional<WaitLimit::Wait> wait;
    if (device_.info().kind == DeviceKind::cuda) wait.emplace(limit_, no_sum);
    kernel_.launch(combine_->neighbours(), in_.data(), combine_->sum(), n_);
    combine_->start();
  }

 private:
  const RankKernel& kernel_;
  Device& device_;
  WaitLimit& limit_;
  std::unique_ptr<Combine> combine_;
  Shard shard_;
  std::uint64_t n_;  ///< that the kernels sum, with those of all neighbours
  std::size_t element_bytes_;
  DeviceBuffer in_;
};

/// Times by the devices' clocks: all devices meet, and each has its clock run from there until it has the sum of all. A sample
/// is the slowest one's. None of it is launched, by any host, while the clocks run. Throws SampleNotQueued, on all ranks, where
/// a device does not wait for its host.
double time_by_devices(const Ranks& ranks, RankReduction& reduction, SampleTimer& timer) {
  constexpr double unqueued = -1;
  const auto time_once = [&] {
    const WaitLimit::Wait wait(ranks.limit(), no_sum);
    reduction.poison();
    timer.start([&] { reduction.combine().meet(); });
    reduction.start();
    try {
      return timer.stop([&] { reduction.combine().wait(); });
    } catch (const SampleNotQueued&) {
      return unqueued;
    }
  };
  return take_queued_sample([&] {
    const std::vector<double> ms = ranks.gather(time_once());
    if (std::ranges::count(ms, unqueued) > 0) throw SampleNotQueued{};
    return *std::ranges::max_element(ms);
  });
}

/// Times by the hosts' clocks, from a barrier to the end of the slowest rank: launches are in the times, and how far apart the
/// ranks leave the barrier.
double time_by_hosts(const Ranks& ranks, RankReduction& reduction, SampleTimer& timer, Device& device) {
  reduction.poison();
  timer.empty_l2();
  device.synchronize();
  ranks.barrier();
  const Stopwatch sample;
  reduction.start();
  reduction.combine().wait();
  return ranks.largest(sample.ms());
}

void time_ranks(const Ranks& ranks, const Options& options, RankReduction& reduction, Device& device,
                Result& result) {
  for (unsigned run = 0; run < options.timing.warm_up_runs; ++run) {
    reduction.start();
    reduction.combine().wait();
  }
  bool by_devices = options.timing.queued;
  if (by_devices) {
    const WaitLimit::Wait wait(ranks.limit(), "the other GPUs did not come");
    by_devices = reduction.combine().meet();
    if (by_devices) reduction.combine().wait();
  }
  const std::unique_ptr<SampleTimer> timer = device.make_timer(options.timing);
  const std::vector<double> ms = take_samples(
      options.samples,
      [&] {
        return by_devices ? time_by_devices(ranks, reduction, *timer)
                          : time_by_hosts(ranks, reduction, *timer, device);
      },
      [&](double seconds) { return ranks.largest(seconds); });
  result.samples = ms.size();
  result.ms = summarise(ms);
  if (by_devices) result.timing = options.timing;
}

}  // namespace

void require_memory_for_shard(const Job& job, const Device& device, const RankMeasurement& measurement) {
  // The ranks of a node share the host's memory; a GPU is one rank's alone.
  const bool is_shared = device.info().kind == DeviceKind::emulated;
  const auto sharers = static_cast<std::size_t>(is_shared ? job.node().count() : 1);
  const RankKernel& kernel = measurement.kernel;
  Memory memory = device.memory();
  memory.own_bytes *= sharers;
  const auto require = [&](std::uint64_t longest) {
    const std::size_t bytes =
        longest * size_of(measurement.type) + kernel.mailbox_bytes + kernel.partial_bytes;
    require_memory(longest * sharers, measurement.type, bytes * sharers, memory);
  };
  const auto ranks = static_cast<unsigned>(measurement.ranks);
  require(measurement.n / ranks);  // before chunks are made of it, which cannot be of any size
  require(kernel.shard(measurement.n, 0, ranks).count);
}

Result measure_ranks(const Job& job, const Ranks& ranks, Device& device, const RankMeasurement& measurement) {
  const Options& options = measurement.options;
  Result result;
  result.step = measurement.step.name;
  result.title = measurement.step.title;
  result.device = device.info();
  result.type = measurement.type;
  result.input = {options.data, options.seed, measurement.n};
  RankReduction reduction(ranks, device, measurement);
  SharedBy& shared = result.shared.emplace();
  shared.ranks = ranks.count();
  shared.nodes = static_cast<int>(std::ranges::count(ranks.gather(job.node().rank()), 0));
  shared.elements_per_rank =
      measurement.kernel.shard(measurement.n, 0, static_cast<unsigned>(ranks.count())).count;
  shared.weak = measurement.weak;
  shared.combined_by = reduction.combine().name();

  // Nothing is unwound from here on: to release what a kernel uses would wait for that kernel, which may wait for ever.
  try {
    const Reference reference = reference_of(ranks, result.input, result.type);
    result.expected = to_value(reference);
    // In which order MPI or NCCL adds the ranks' sums is theirs to choose, and one after the other is the longest.
    const std::uint64_t most_additions =
        reduction.most_additions() + static_cast<std::uint64_t>(ranks.count() - 1);

    // Rank 0 verifies every rank's copy of the sum, and shows the first that is wrong.
    const auto check = [&] {
      for (const Value& value : ranks.gather(reduction.combine().value())) {
        result.value = value;
        result.verdict = verify(value, reference, most_additions);
        if (!result.verdict.verified) break;
      }
      result.verdict.verified = ranks.gather(result.verdict.verified ? 1 : 0).front() == 1;
    };

    reduction.poison();
    ranks.barrier();  // the time limit is no limit for the reference
    reduction.start();
    reduction.combine().wait();
    check();
    if (result.device.kind != DeviceKind::cuda || !result.verdict.verified) return result;

    time_ranks(ranks, options, reduction, device, result);
    check();
    if (options.timing.flush != Flush::none && result.gbps())
      require_possible(*result.gbps() / ranks.count(), result.device);
  } catch (const __emulated::NoWordFromPeers&) {
    job.end_too_late("the sums of the other ranks did not come");
  } catch (...) {
    job.abort_with_current_exception();
  }
  return result;
}

}  // namespace reduction
