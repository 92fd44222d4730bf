#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "harness/device.hpp"
#include "harness/result.hpp"
#include "job.hpp"
#include "rank_kernels.hpp"

namespace reduction {

/// What a number of ranks found together. On ranks other than 0 only `result.verdict.verified` means something.
struct RankResult {
  Result result;  ///< of the whole input; its device is rank 0's
  int ranks = 0;
  int nodes = 0;
  std::uint64_t elements_per_rank = 0;  ///< of the longest shard
  std::string combined_by;              ///< "the kernels", "MPI" or "NCCL 2.28.9"
  std::optional<double> one_rank_gbps;

  std::optional<double> gbps_per_rank() const;

  /// Returns the bandwidth as a multiple of one rank's, if that was measured.
  std::optional<double> times_one_rank() const;
};

/// What ranks are about to measure, the same on all of them. The objects outlive it.
struct RankMeasurement {
  const RankStep& step;
  const CommandLine& line;
  const RankKernel& kernel;  ///< of the line's type
  Combiner combine;          ///< never automatic
  std::uint64_t n;           ///< number of elements of all ranks together

  /// Returns what one of `count` ranks sums: whole chunks where the kernels combine, so that the order does not depend on
  /// the ranks. Rank 0 has the longest.
  Shard shard(int rank, int count) const;
};

/// What all ranks together sum.
struct WholeInput {
  ElementType type;
  std::uint64_t n;
};

/// Throws DeviceError if the longest of `count` ranks' shards does not fit into this rank's device, or into its share of the
/// host's memory where the device is emulated.
void require_memory_for_shard(const Job& job, const Device& device, const RankKernel& kernel,
                              const WholeInput& input, int count);

/// Has ranks sum n elements: each fills and reduces its shard, the sums are combined, and rank 0 verifies what every rank got.
/// Then, on GPUs, the timed samples, and rank 0 verifies what the last of them left. By all of `ranks`. Throws DeviceError if
/// there is no memory; once the kernels run, whatever fails ends the job.
RankResult measure_ranks(const Job& job, const Ranks& ranks, Device& device,
                         const RankMeasurement& measurement);

}  // namespace reduction
