#pragma once
/// \file
/// CUDA's runtime: what is asked of a kernel, and its launch by a function.

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/errors.hpp"

namespace __emulated {

/// A kernel by its name, or by its entry.
struct NamedKernel {
  NamedKernel(const void* its_entry) : entry{on_device(its_entry)} {}
  template <typename... Parameters>
  NamedKernel(void (*kernel)(Parameters...)) : NamedKernel{reinterpret_cast<const void*>(kernel)} {}

  const void* entry;
};

}  // namespace __emulated

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};

cudaError_t cudaFuncSetAttribute(__emulated::NamedKernel kernel, cudaFuncAttribute attribute, int value);

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
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;  ///< not known
  int ptxVersion, binaryVersion;
};
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, __emulated::NamedKernel kernel);

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, __emulated::NamedKernel kernel,
                                                          int threads, size_t dynamic_shared_bytes);

namespace __emulated {
bool fits_at_once(const ExecutionConfiguration& configuration);
}

/// Launches the kernel with all of its blocks at once. Throws, as every launch here does, what is wrong with it.
/// \param arguments  where each of them is.
template <typename... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  __emulated::ExecutionConfiguration configuration{grid, block, shared_bytes, stream};
  configuration.is_cooperative = true;
  [&]<size_t... index>(std::index_sequence<index...>) {
    __emulated::launch(configuration, kernel,
                       *static_cast<std::remove_cvref_t<Parameters>*>(arguments[index])...);
  }
  (std::index_sequence_for<Parameters...>{});
  return __emulated::error_unless(__emulated::fits_at_once(configuration),
                                  cudaErrorCooperativeLaunchTooLarge);
}
template <typename Entry>
requires std::is_void_v<Entry> cudaError_t cudaLaunchCooperativeKernel(Entry*, dim3, dim3, void**, size_t = 0,
                                                                       cudaStream_t = nullptr) {
  static_assert(__emulated::supports<Entry>,
                "cudaLaunchCooperativeKernel: kernels by untyped pointers are not modelled on the emulated "
                "device: pass "
                "the kernel itself, without a cast");
  return cudaErrorNotSupported;
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
  __emulated::launch({config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream}, kernel,
                     arguments...);
  return cudaSuccess;
}
