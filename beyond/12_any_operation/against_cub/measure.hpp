#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cases.hpp"
#include "harness/device.hpp"
#include "harness/sampling.hpp"

namespace reduction {

/// What was measured of a case and a number of elements.
struct Comparison {
  std::string name;  ///< of the case
  std::size_t element_bytes = 0;
  std::uint64_t n = 0;
  std::size_t samples = 0;  ///< of each; 0 if the first results differed
  Summary ours;             ///< ms
  Summary cub;              ///< ms
  std::vector<double> ours_result;
  std::vector<double> cub_result;

  /// Says whether both have the same result. NaN, which a result has before it is written, is none.
  bool verified() const { return ours_result == cub_result; }

  /// Returns the bandwidth in 10^9 bytes/s at which the input was read in a time.
  double gbps(const Summary& ms) const {
    return static_cast<double>(n) * static_cast<double>(element_bytes) / ms.median / 1e6;
  }

  /// Returns CUB's time over ours: above 1 CUB takes longer.
  double cub_over_ours() const { return cub.median / ours.median; }

  /// Says whether the two are as close as two readings of the same time may be.
  bool within_tick() const;
};

/// Returns how much device memory a comparison needs, in bytes.
std::size_t needed_bytes(const Case& chosen, std::uint64_t n);

/// Times both in turn, ours first, with a timer of this device. Throws DeviceError, and MeasurementError for a bandwidth
/// above the device's peak.
Comparison compare(const Case& chosen, Device& device, SampleTimer& timer, const TimingMethod& method,
                   std::uint64_t n, std::size_t samples, std::uint64_t seed);

}  // namespace reduction
