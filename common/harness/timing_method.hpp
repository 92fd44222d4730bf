#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace reduction {

/// What happens to the L2 before a sample.
enum class Flush {
  read,    ///< a buffer of twice its size is read: the input is gone, and nothing waits to be written back
  memset,  ///< the buffer is overwritten: its dirty lines are written back while the sample runs
  none,    ///< the input of the sample before is still there
};

/// Returns the size of that buffer: after as much again, nothing of an input is left in an L2.
constexpr std::size_t flush_bytes(std::size_t l2_bytes) { return 2 * l2_bytes; }

/// How a CUDA device times. The defaults are what a figure should be measured with; docs/method.md shows by measurement
/// what each of them is for.
struct TimingMethod {
  Flush flush = Flush::read;
  unsigned warm_up_runs = 3;  ///< whole reductions before the first sample
  bool queued = true;    ///< the device waits until a whole sample is queued: no host's launch latency in it
  unsigned lead_in = 8;  ///< empty kernels before each sample: the device has fetched what follows them
  unsigned back_to_back = 1;  ///< whole reductions in a sample, whose time is their mean
};

/// Returns the name that `--flush` takes and JSON has.
constexpr std::string_view to_string(Flush flush) {
  constexpr std::array<std::string_view, 3> names{"read", "memset", "none"};
  return names[static_cast<std::size_t>(flush)];
}

}  // namespace reduction
