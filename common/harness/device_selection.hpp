#pragma once
/// \file
/// Every way to a device: what is there, what the user means, and opening it.

#include <memory>
#include <string>

#include "harness/device.hpp"
#include "harness/options.hpp"

namespace reduction {

/// Says why no CUDA device can be used: the driver's reason, or that the build has no CUDA. Empty if there is one.
std::string cuda_unavailable_reason();

/// Returns how many CUDA devices this process sees: CUDA_VISIBLE_DEVICES, or who started it, may hide others.
int visible_cuda_devices();

/// Opens CUDA device `ordinal` and makes it current. Throws DeviceError if there is none of that number.
std::unique_ptr<Device> open_cuda_device(int ordinal);

/// Opens the emulated device, which every machine has, to run as `emulation` says.
std::unique_ptr<Device> open_emulated_device(const Emulation& emulation = {});

/// Which device a command line means on this machine.
struct ChosenDevice {
  DeviceKind kind;
  int ordinal = 0;   ///< of a CUDA device
  std::string note;  ///< why it is the emulated one, if the user left the choice
};

/// Chooses what the user named, else the first GPU, else the emulated device.
ChosenDevice choose_device(const DeviceChoice& choice);

/// A device that is open, and why it is this one if the user left the choice and there is no GPU.
struct SelectedDevice {
  std::unique_ptr<Device> device;
  std::string note;
};

}  // namespace reduction
