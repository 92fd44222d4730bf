#pragma once
/// \file
/// CUDA's runtime: what is asked of a kernel, and its launch by a function.

#include <functional>

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
inline cudaError_t cudaFuncSetCacheConfig(__emulated::NamedKernel, cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }

/// Kernels are compiled as for compute capability 8.0: without what 9.0 brought, which is not modelled.
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;  ///< not known
  int ptxVersion, binaryVersion;
};
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, __emulated::NamedKernel kernel);

/// What registers and static shared memory take is not known.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, __emulated::NamedKernel kernel,
                                                          int threads, size_t dynamic_shared_bytes);

/// The largest block of those that fill an SM best, and how many of them fill the device. \param shared_bytes  of a block,
/// by its threads. \param most_threads  0: as many as a block can have.
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block,
                                                           __emulated::NamedKernel kernel,
                                                           const std::function<size_t(int)>& shared_bytes,
                                                           int most_threads = 0);
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, __emulated::NamedKernel kernel,
                                                      size_t shared_bytes = 0, int most_threads = 0) {
  const auto same = [shared_bytes](int) { return shared_bytes; };
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, kernel, same, most_threads);
}

namespace __emulated {

/// Throws, as every launch here does, what is wrong with it, unless a program is to go on. That one is told of a refusal.
template <typename... Parameters, typename... Arguments>
cudaError_t launch_with_status(const ExecutionConfiguration& configuration, void (*kernel)(Parameters...),
                               const Arguments&... arguments) {
  const cudaError_t earlier = cudaGetLastError();
  launch(configuration, kernel, arguments...);
  const cudaError_t status = cudaPeekAtLastError();
  if (status == cudaSuccess) noted(earlier);
  return status;
}

/// \param arguments  where each of them is.
template <typename... Parameters>
cudaError_t launch_by_pointers(const ExecutionConfiguration& configuration, void (*kernel)(Parameters...),
                               void** arguments) {
  return [&]<size_t... index>(std::index_sequence<index...>) {
    return launch_with_status(configuration, kernel,
                              *static_cast<std::remove_cvref_t<Parameters>*>(arguments[index])...);
  }
  (std::index_sequence_for<Parameters...>{});
}

}  // namespace __emulated

/// The rewriter drops a cast of the kernel.
template <typename... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return __emulated::launch_by_pointers({grid, block, shared_bytes, stream}, kernel, arguments);
}
/// The same with all of its blocks at once.
template <typename... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                        void** arguments, size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  __emulated::ExecutionConfiguration configuration{grid, block, shared_bytes, stream};
  configuration.is_cooperative = true;
  return __emulated::launch_by_pointers(configuration, kernel, arguments);
}

template <typename Entry>
requires std::is_void_v<Entry> cudaError_t cudaLaunchKernel(Entry*, dim3, dim3, void**, size_t = 0,
                                                            cudaStream_t = nullptr) {
  static_assert(__emulated::supports<Entry>,
                "cudaLaunchKernel: kernels by untyped variables are not modelled on the emulated device: "
                "name the kernel in the call");
  return cudaErrorNotSupported;
}
template <typename Entry>
requires std::is_void_v<Entry> cudaError_t cudaLaunchCooperativeKernel(Entry*, dim3, dim3, void**, size_t = 0,
                                                                       cudaStream_t = nullptr) {
  static_assert(__emulated::supports<Entry>,
                "cudaLaunchCooperativeKernel: kernels by untyped variables are not modelled on the emulated "
                "device: name the kernel in the call");
  return cudaErrorNotSupported;
}

enum cudaLaunchAttributeID {
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
};
union cudaLaunchAttributeValue {
  struct {
    unsigned x, y, z;
  } clusterDim;
  int cooperative;
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

/// Of the attributes only the cooperative one is modelled.
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  __emulated::ExecutionConfiguration configuration{config->gridDim, config->blockDim,
                                                   config->dynamicSmemBytes, config->stream};
  for (const cudaLaunchAttribute& attribute : std::span{config->attrs, config->numAttrs}) {
    if (attribute.id != cudaLaunchAttributeCooperative) return __emulated::noted(cudaErrorNotSupported);
    configuration.is_cooperative = attribute.val.cooperative != 0;
  }
  return __emulated::launch_with_status(configuration, kernel, arguments...);
}
