#pragma once
/// \file
/// CUDA's runtime: what is asked of a kernel, and its launch by a function.

#include <stdexcept>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/errors.hpp"
#include "emulated/run/device.hpp"

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};

inline cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) try {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
    __emulated::allow_dynamic_shared_memory(kernel, static_cast<size_t>(value));
  return cudaSuccess;  // the other one is advice
} catch (const std::invalid_argument&) {
  return __emulated::noted(cudaErrorInvalidValue);
}
template <typename... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
/// Advice, too.
template <typename... Parameters> cudaError_t cudaFuncSetCacheConfig(void (*)(Parameters...), cudaFuncCache) {
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }

/// Kernels are compiled as for compute capability 8.0: without what 9.0 brought, which is not modelled.
struct cudaFuncAttributes {
  int ptxVersion;
  int binaryVersion;
};
template <typename... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*)(Parameters...)) {
  *attributes = {80, 80};
  return cudaSuccess;
}

template <typename... Parameters>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*)(Parameters...), int threads,
                                                          size_t dynamic_shared_bytes) {
  if (threads <= 0) return __emulated::noted(cudaErrorInvalidValue);
  const size_t resident = __emulated::resident_blocks(static_cast<unsigned>(threads), dynamic_shared_bytes);
  *blocks = static_cast<int>(resident / __emulated::properties().sms);
  return cudaSuccess;
}

enum cudaLaunchAttributeID {
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};
union cudaLaunchAttributeValue {
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

/// Throws, as every launch here does, what is wrong with the launch or its kernel. No attribute is modelled.
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  if (config->numAttrs != 0) return __emulated::noted(cudaErrorNotSupported);
  __emulated::launch({config->gridDim, config->blockDim, config->dynamicSmemBytes}, kernel, arguments...);
  return cudaSuccess;
}
