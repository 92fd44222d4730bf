#include "harness/device_selection.hpp"

#include "harness/cuda_device.hpp"
#include "harness/emulated_device.hpp"

namespace reduction {

SelectedDevice select_device(const Options& options) {
  switch (options.device.kind) {
    case DeviceChoice::Kind::cuda: return {open_cuda_device(options.device.ordinal), ""};
    case DeviceChoice::Kind::emulated: return {open_emulated_device(options.emulation), ""};
    case DeviceChoice::Kind::automatic: break;
  }
  const std::string unavailable = cuda_unavailable_reason();
  if (unavailable.empty()) return {open_cuda_device(0), ""};
  return {open_emulated_device(options.emulation), "no CUDA device here: " + unavailable};
}

}  // namespace reduction
