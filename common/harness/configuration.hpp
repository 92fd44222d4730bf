#pragma once

#include <cstddef>
#include <cstdint>
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

/// How many elements a step takes where the user names no number. On a GPU 2^28, well over any L2, or the largest power
/// of two that fits in half of its free memory; on the emulated device 2^20.
std::uint64_t default_elements(const Device& device, ElementType type);

/// What a command line asks to run on `device`, in order: one configuration, or all of a sweep. Throws UsageError where
/// a sweep would be empty.
std::vector<Configuration> plan_configurations(const Options& options, const Device& device);

/// The error that says what a configuration needs, in bytes, and what the device has.
DeviceError out_of_memory(const Configuration& configuration, std::size_t needed, const Device& device);

}  // namespace reduction
