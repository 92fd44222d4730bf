#pragma once

#include <string>

#include "harness/device.hpp"
#include "harness/options.hpp"

namespace reduction {

/// Which device a command line means on this machine.
struct ChosenDevice {
  DeviceKind kind;
  int ordinal = 0;   ///< of a CUDA device
  std::string note;  ///< why it is the emulated one, if the user left the choice
};

/// Chooses what the user named, else the first GPU, else the emulated device.
ChosenDevice choose_device(const DeviceChoice& choice);

}  // namespace reduction
