#pragma once

#include <memory>

#include "harness/device.hpp"

namespace reduction {

/// Times with CUDA events on the current device, which is `device`.
std::unique_ptr<SampleTimer> make_cuda_timer(Device& device, const TimingMethod& method);

}  // namespace reduction
