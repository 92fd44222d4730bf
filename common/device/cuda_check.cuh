#pragma once

#include <cuda_runtime.h>

#include <string>

#include "device/device_error.hpp"

namespace reduction {

/// Throws DeviceError unless `status` is cudaSuccess: it says what was being `doing`, and CUDA's own reason.
inline void cuda_check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  std::string reason = std::string(doing) + ": " + cudaGetErrorString(status);
  if (status == cudaErrorNoKernelImageForDevice) {
    reason += "; build for this GPU with -DCMAKE_CUDA_ARCHITECTURES=native";
  }
  throw DeviceError(reason);
}

}  // namespace reduction
