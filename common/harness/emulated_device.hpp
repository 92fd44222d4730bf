#pragma once

#include <memory>

#include "harness/device.hpp"

namespace reduction {

/// Opens the emulated device, which every machine has.
std::unique_ptr<Device> open_emulated_device();

}  // namespace reduction
