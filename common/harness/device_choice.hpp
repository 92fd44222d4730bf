#pragma once

#include <string>

#include "harness/device.hpp"
#include "harness/options.hpp"

namespace reduction {

/// Which device a command line means on this machine.
struct ChosenDevice {
  DeviceKind kind;
  int ordinal = 0;   ///< of a CUDA device
  std::string note;  ///< why it is the emulated one, where the user left the choice
};

/// Chooses the first GPU where the user leaves the choice, or the emulated device where there is none.
ChosenDevice choose_device(const DeviceChoice& choice);

}  // namespace reduction
