#pragma once

#include <memory>
#include <string>

#include "harness/device.hpp"
#include "harness/options.hpp"

namespace reduction {

/// A device that is open, and why it is this one if the user left the choice and there is no GPU.
struct SelectedDevice {
  std::unique_ptr<Device> device;
  std::string note;
};

/// Opens what the user chose. Throws DeviceError if it is not there.
SelectedDevice select_device(const Options& options);

}  // namespace reduction
