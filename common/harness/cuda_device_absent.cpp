/// \file
/// Stands in for cuda_device.cu in a build without the CUDA toolkit.

#include "harness/cuda_device.hpp"

namespace reduction {

std::string cuda_unavailable_reason() {
  return "this build has no CUDA: CMake found no nvcc (put it on PATH and build again)";
}

std::unique_ptr<Device> open_cuda_device(int) { throw DeviceError(cuda_unavailable_reason()); }

}  // namespace reduction
