#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace reduction {

/// Queues a library's reduction of the n elements at `in` on the default stream. With storage == nullptr it only sets
/// `bytes`, the number of bytes that it needs there. Throws DeviceError.
using Call = std::function<void(void* storage, std::size_t& bytes, const void* in, void* out, std::size_t n)>;

/// A reduction that both libraries have.
struct Case {
  std::string name;  ///< that --cases takes: sum_int32
  std::size_t element_bytes;
  std::size_t result_bytes;
  std::function<void(void* in, std::uint64_t n, std::uint64_t seed)>
      fill;  ///< writes the input, on the device
  Call ours;
  Call cub;
  /// Lists the components of a result that was copied to the host. Each is a whole number that a double can hold.
  std::function<std::vector<double>(const void* result)> components;
};

/// Sums of the steps' types.
std::vector<Case> sums();

/// Sums in the order of SameBits, and with the bound of their error.
std::vector<Case> sums_with_promises();

/// Types of 8 and 16 bits.
std::vector<Case> small_types();

/// Extremes, where they are, and a sum of squares.
std::vector<Case> other_operations();

/// Returns the version of CUB that the cases were compiled with: 3.0.1.
std::string cub_version();

}  // namespace reduction
