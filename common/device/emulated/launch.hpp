#pragma once
#include <cstddef>
#include <span>
#include <stdexcept>

#include "device/launch_config.hpp"

namespace reduction::emulated {

/// A kernel with its arguments, as the device sees it: something to call once a thread.
struct KernelCall {
  void (*run_thread)(const void* arguments);
  std::span<const std::byte> arguments;  ///< constant memory: a kernel copies its parameters from here
  const void* entry;                     ///< the kernel's address, which names it in a finding
  std::span<const void* const> outputs;  ///< arguments through which a kernel may store, nullptr among them
  bool stores_anywhere;                  ///< an argument may hold further such pointers
};

/// Runs every thread of every block to its end. Throws std::invalid_argument where the device has no such
/// launch, KernelFinding for a faulty kernel, and whatever a thread of the kernel throws.
void launch_grid(const LaunchConfig& config, const KernelCall& kernel);

}  // namespace reduction::emulated
