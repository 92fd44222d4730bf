#include "harness/device.hpp"

namespace reduction {

ChosenDevice choose_device(const DeviceChoice& choice) {
  switch (choice.kind) {
    case DeviceChoice::Kind::cuda: return {DeviceKind::cuda, choice.ordinal, ""};
    case DeviceChoice::Kind::emulated: return {DeviceKind::emulated, 0, ""};
    case DeviceChoice::Kind::automatic: break;
  }
  const std::string unavailable = cuda_unavailable_reason();
  if (unavailable.empty()) return {DeviceKind::cuda, 0, ""};
  return {DeviceKind::emulated, 0, "no CUDA device here: " + unavailable};
}

}  // namespace reduction
