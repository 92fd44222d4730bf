#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "command_line.hpp"
#include "harness/device.hpp"
#include "harness/result.hpp"
#include "harness/step.hpp"
#include "job.hpp"

namespace reduction {

/// What a number of ranks found together. On ranks other than 0 only `result.verdict.verified` means something.
struct RankResult {
  Result result;  ///< of the whole input; its device is rank 0's
  int ranks = 0;
  int nodes = 0;
  std::uint64_t elements_a_rank = 0;  ///< of the longest shard
  std::string combined_by;            ///< "MPI" or "NCCL 2.28.9"
  std::optional<double> one_rank_gbps;

  std::optional<double> gbps_a_rank() const;

  /// Returns the bandwidth as a multiple of one rank's, if that was measured.
  std::optional<double> times_one_rank() const;

  /// Returns the bandwidth as a share of what the devices could do together, in percent.
  std::optional<double> percent_of_peak() const;
};

/// Throws DeviceError if this rank's shard of n elements does not fit into its device's free memory, or into its
/// share of the host's where the device is emulated.
void require_memory_for_shard(const Job& job, const StepKernel& kernel, const Device& device,
                              const CommandLine& line, std::uint64_t n, int ranks);

/// Has the first `ranks.count()` ranks sum n elements: each fills and reduces its shard, the sums are combined, and
/// rank 0 verifies what every rank got. Then, on GPUs, the timed samples, and rank 0 verifies what the last of them
/// left. By all of `ranks`. Throws DeviceError if a device or MPI fails.
RankResult measure_ranks(const Job& job, const Ranks& ranks, const Step& step, const StepKernel& kernel,
                         Device& device, const CommandLine& line, std::uint64_t n);

}  // namespace reduction
