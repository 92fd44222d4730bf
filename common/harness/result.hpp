#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulated/count/counters.hpp"
#include "harness/device.hpp"
#include "harness/element_type.hpp"
#include "harness/input.hpp"
#include "harness/reduction_plan.hpp"
#include "harness/sampling.hpp"
#include "harness/timing_method.hpp"
#include "harness/verification.hpp"

namespace reduction {

/// How ranks share an input: those of 13_many_gpus.
struct SharedBy {
  int ranks = 1;
  int nodes = 1;
  std::uint64_t elements_per_rank = 0;  ///< of the longest part
  bool weak = false;                    ///< the elements of each rank were given, not those of all
  std::string combined_by;              ///< "the kernels", "MPI" or "NCCL 2.28.9"
  std::optional<double> one_rank_gbps;  ///< of a run of one rank before
};

/// One step, run once on one input.
struct Result {
  std::string step;
  std::string title;
  std::string variant;  ///< which of the step's ways of summing this is; empty where it has one
  DeviceInfo device;
  ElementType type = ElementType::int32;
  Input input;
  std::optional<SharedBy> shared;
  unsigned block = 0;                               ///< threads per block; 0 on the CPU and for a library
  std::vector<Pass> passes;                         ///< none on the CPU and for a library
  std::vector<__emulated::Counters> pass_counters;  ///< one per pass, where the device counts
  std::size_t samples = 0;
  std::optional<Summary> ms;  ///< none on the emulated device
  std::optional<double>
      first_run_ms;  ///< wall-clock time of a CUDA device's first run, which is verified only
  std::optional<TimingMethod> timing;  ///< how a CUDA device was timed
  std::string timing_remark;           ///< why it was timed in another way than asked; else empty
  Value value;
  Value expected;
  Verdict verdict;
  std::vector<Result> other_variants;  ///< the same input, summed in the step's other ways

  /// Says whether every variant gave the right sum.
  bool verified() const {
    return verdict.verified &&
           std::all_of(other_variants.begin(), other_variants.end(),
                       [](const Result& variant_result) { return variant_result.verified(); });
  }

  /// Returns the sum over all passes; none if the device does not count.
  std::optional<__emulated::Counters> counters() const {
    if (pass_counters.empty()) return std::nullopt;
    __emulated::Counters sum;
    for (const __emulated::Counters& counters_of_pass : pass_counters)
      sum += counters_of_pass;
    return sum;
  }

  /// Returns how many blocks all passes have together.
  std::size_t blocks() const {
    std::size_t sum = 0;
    for (const Pass& pass : passes)
      sum += pass.blocks;
    return sum;
  }

  /// Returns the size of the input in bytes.
  double input_bytes() const { return static_cast<double>(input.n) * static_cast<double>(size_of(type)); }

  /// Returns input bytes over the median time of the whole reduction, in GB/s.
  std::optional<double> gbps() const {
    if (!ms || ms->median <= 0) return std::nullopt;
    return input_bytes() / ms->median / 1e6;
  }

  /// Returns gbps() as a share of what all devices could do together, in percent.
  std::optional<double> percent_of_peak() const {
    if (!gbps() || !device.peak_gbps) return std::nullopt;
    return *gbps() / *device.peak_gbps / (shared ? shared->ranks : 1) * 100;
  }

  /// Returns the bandwidth as a multiple of that of one rank, if that was measured.
  std::optional<double> times_one_rank() const {
    if (!gbps() || !shared || shared->one_rank_gbps.value_or(0) <= 0) return std::nullopt;
    return *gbps() / *shared->one_rank_gbps;
  }
};

}  // namespace reduction
