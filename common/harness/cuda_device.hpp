#pragma once

#include <memory>
#include <string>

#include "harness/device.hpp"

namespace reduction {

/// Says why no CUDA device can be used: the driver's reason, or that the build has no CUDA. Empty if there is one.
std::string cuda_unavailable_reason();

/// Opens CUDA device `ordinal` and makes it current. Throws DeviceError if there is none of that number.
std::unique_ptr<Device> open_cuda_device(int ordinal);

}  // namespace reduction
