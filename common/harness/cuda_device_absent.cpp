/// \file
/// Stands in for cuda_device.cu in a build without the CUDA toolkit.

#include "harness/device.hpp"

namespace reduction {

std::string cuda_unavailable_reason() {
  return "this build is without CUDA: it was configured without nvcc on PATH, without a GPU, or with "
         "REDUCTION_CUDA=OFF";
}

int visible_cuda_devices() { return 0; }

std::unique_ptr<Device> open_cuda_device(int) { throw DeviceError(cuda_unavailable_reason()); }

}  // namespace reduction
