#pragma once

#include <memory>

#include "harness/device.hpp"
#include "harness/options.hpp"

namespace reduction {

/// Opens the emulated device, which every machine has, to run as `emulation` says.
std::unique_ptr<Device> open_emulated_device(const Emulation& emulation = {});

}  // namespace reduction
