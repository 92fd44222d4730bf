#pragma once

#include <memory>

#include "harness/device.hpp"

namespace reduction {

/// Makes a timer of CUDA events on `device`, which is the current one.
std::unique_ptr<SampleTimer> make_cuda_timer(Device& device, const TimingMethod& method);

}  // namespace reduction
