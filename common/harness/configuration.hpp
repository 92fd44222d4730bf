#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/device.hpp"
#include "harness/options.hpp"

namespace reduction {

/// One run of a step: which elements, how many, in blocks of how many threads.
struct Configuration {
  ElementType type;
  std::uint64_t elements;
  unsigned block;
};

/// The memory that a run has to fit into, and whose it is.
struct DeviceRoom {
  DeviceKind kind;
  std::string name;
  std::size_t available_bytes;  ///< free now
  std::size_t own_bytes = 0;    ///< that the device itself needs of these
  std::string_view bound;       ///< HostMemory's
};

DeviceRoom room_of(const Device& device);
DeviceRoom room_of_emulated_device();  ///< without opening it

/// Returns how many elements a step takes if the user names no number. On a GPU that is 2^28, well over any L2, or the
/// largest power of two that fits in half of its free memory; on the emulated device it is 2^20.
std::uint64_t default_elements(const DeviceRoom& room, ElementType type);

/// Lists what a command line asks to run, in order: one configuration, or all of a sweep. Throws UsageError if a sweep
/// would be empty.
std::vector<Configuration> plan_configurations(const Options& options, const DeviceRoom& room);

/// Makes the error that says what a configuration needs, in bytes, and what the device has.
DeviceError out_of_memory(const Configuration& configuration, std::size_t needed, const DeviceRoom& room);

}  // namespace reduction
