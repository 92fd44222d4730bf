#include "harness/device_selection.hpp"

#include "harness/cuda_device.hpp"
#include "harness/device_choice.hpp"
#include "harness/emulated_device.hpp"

namespace reduction {

SelectedDevice select_device(const Options& options) {
  const ChosenDevice chosen = choose_device(options.device);
  return {chosen.kind == DeviceKind::cuda ? open_cuda_device(chosen.ordinal)
                                          : open_emulated_device(options.emulation),
          chosen.note};
}

}  // namespace reduction
