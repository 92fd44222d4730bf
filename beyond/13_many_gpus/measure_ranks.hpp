#pragma once

#include <cstdint>

#include "combine.hpp"
#include "harness/device.hpp"
#include "harness/options.hpp"
#include "harness/result.hpp"
#include "job.hpp"
#include "rank_kernels.hpp"

namespace reduction {

/// What ranks are about to measure, the same on all of them. The objects outlive it.
struct RankMeasurement {
  const RankStep& step;
  const Options& options;
  const RankKernel& kernel;  ///< of the type
  ElementType type;
  Combiner combiner;  ///< never automatic
  int ranks;          ///< the first of the job's
  std::uint64_t n;    ///< number of elements of all of them together
  bool weak;          ///< that was given for each of them
};

/// Throws DeviceError if the longest shard does not fit into this rank's device, or into its share of the host's memory where
/// the device is emulated.
void require_memory_for_shard(const Job& job, const Device& device, const RankMeasurement& measurement);

/// Has ranks sum n elements: each fills and reduces its shard, the sums are combined, and rank 0 verifies what every rank got.
/// Then, on GPUs, the timed samples, and rank 0 verifies what the last of them left. By all of `ranks`. Throws DeviceError if
/// there is no memory; once the kernels run, whatever fails ends the job. On ranks other than 0, only
/// `verdict.verified` of the result means something.
Result measure_ranks(const Job& job, const Ranks& ranks, Device& device, const RankMeasurement& measurement);

}  // namespace reduction
