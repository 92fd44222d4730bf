#pragma once
/// \file
/// kernel.cuh as the compiled program sees it: functions per element type and kind of device.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/element_type.hpp"

namespace reduction {

/// The elements of one rank: `first` to `first + count - 1` of the input.
struct Shard {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// Devices whose kernels combine their sums among themselves, in memory that all of them reach: as one of them sees them.
struct Neighbours {
  unsigned rank = 0;
  std::vector<void*> mailboxes;  ///< of each; zero before the first launch
  void* partial = nullptr;       ///< this device's own
};

/// The functions of one element type.
struct RankKernel {
  unsigned most_neighbours;
  std::size_t mailbox_bytes;  ///< that each device needs
  std::size_t partial_bytes;
  /// Returns the elements of n that one of `count` ranks sums: whole chunks.
  Shard (*shard)(std::uint64_t n, unsigned rank, unsigned count);
  /// Returns the most additions that one of n elements goes through.
  std::uint64_t (*most_additions)(std::uint64_t n);
  /// Queues the sum of all neighbours' elements, n together: those of this one are at `in`. Every one of them has it at its
  /// `out`. Throws DeviceError if the device refuses a launch.
  void (*launch)(const Neighbours& neighbours, const void* in, void* out, std::uint64_t n);
};

/// Indexed by ElementType.
using RankKernels = std::array<RankKernel, element_types.size()>;

/// Returns those of the emulated device (emulated_rank_kernels.cpp).
const RankKernels& emulated_rank_kernels();

/// Returns those of GPUs (cuda_ranks.cu); null in a build without CUDA.
const RankKernels* cuda_rank_kernels();

/// This step, as its main.cu names it.
struct RankStep {
  std::string_view name;
  std::string_view title;
  const RankKernels* cuda;  ///< null in a build without CUDA
  const RankKernels* emulated;
};

/// Does all that the main of one rank of many does: MPI, options, device, shard, combination, timing, verification, report.
/// Returns the exit code (exit_code.hpp); where a rank fails, it ends the whole job instead.
int run_ranks(const RankStep& step, int argc, char** argv);

}  // namespace reduction
