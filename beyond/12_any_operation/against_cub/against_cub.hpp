#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "harness/sampling.hpp"

namespace reduction {

/// Queues a library's reduction of the n elements at `in` on the default stream. With storage == nullptr it only sets
/// `bytes`, the number of bytes that it needs there. Throws DeviceError.
using Call = std::function<void(void* storage, std::size_t& bytes, const void* in, void* out, std::size_t n)>;

/// The components of a result, each a whole number that a double can hold; NaN until it is written.
using Numbers = std::vector<double>;

/// A reduction that both libraries have.
struct Case {
  std::string name;  ///< sum_int32
  std::size_t element_bytes;
  std::size_t result_bytes;
  std::function<void(void* in, std::size_t n, std::uint64_t seed)> fill;  ///< on the device
  Call ours;
  Call cub;
  std::function<Numbers(const void* result)> numbers;  ///< of a result on the host
};

/// Returns the table of all cases.
std::vector<Case> all_cases();

/// Returns the version of CUB that they were compiled with: 3.0.1.
std::string cub_version();

/// What was measured of one of the two libraries.
struct Measured {
  Numbers result;
  std::optional<Summary> ms;  ///< none if the first results differed
  std::optional<double> gbps;
};

struct Comparison {
  Measured ours;
  Measured cub;

  bool verified() const { return ours.result == cub.result; }
};

/// Times both in turn on the same input, ours first, with a timer of this device. Throws DeviceError, and MeasurementError
/// for a bandwidth above the device's peak.
Comparison compare(const Case& chosen, Device& device, SampleTimer& timer, std::size_t n, std::uint64_t seed,
                   std::size_t samples);

}  // namespace reduction
