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
  cudaFuncAttributeNonPortableClusterSizeAllowed = 13,
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1,
  cudaSharedmemCarveoutMaxL1 = 0,
  cudaSharedmemCarveoutMaxShared = 100
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
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
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaFuncSetSharedMemConfig(__emulated::NamedKernel, cudaSharedMemConfig) {
  return cudaSuccess;
}

/// Kernels are compiled as for compute capability 8.0: without what 9.0 brought, which is not modelled.
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;  ///< not known
  int ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
};
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, __emulated::NamedKernel kernel);

/// Of static shared memory, what the kernel's own body declares. What registers take is not known.
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, __emulated::NamedKernel kernel,
                                                          int threads, size_t dynamic_shared_bytes);

inline constexpr unsigned cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1;
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, __emulated::NamedKernel kernel, int threads, size_t dynamic_shared_bytes, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, dynamic_shared_bytes);
}

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
template <typename Launch> cudaError_t status_of(const Launch& launch) {
  const cudaError_t earlier = cudaGetLastError();
  launch();
  const cudaError_t status = cudaPeekAtLastError();
  if (status == cudaSuccess) keep(earlier);
  return status;
}

/// \param arguments  where each of them is.
template <typename... Parameters>
cudaError_t launch_by_pointers(const ExecutionConfiguration& configuration, void (*kernel)(Parameters...),
                               void** arguments) {
  return [&]<size_t... index>(std::index_sequence<index...>) {
    return status_of([&] {
      launch(configuration, kernel, *static_cast<std::remove_cvref_t<Parameters>*>(arguments[index])...);
    });
  }
  (std::index_sequence_for<Parameters...>{});
}

/// The rewriter has `(void*)untyped(kernel)` for `(void*)kernel`, so that its parameters are known where it is launched.
using LaunchByPointers = cudaError_t (*)(const ExecutionConfiguration&, const void* kernel, void** arguments);
void* know_kernel(const void* kernel, LaunchByPointers launch);
template <typename... Parameters> void* untyped(void (*kernel)(Parameters...)) {
  return know_kernel(reinterpret_cast<const void*>(kernel),
                     [](const ExecutionConfiguration& configuration, const void* entry, void** arguments) {
                       const auto typed = reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(entry));
                       return launch_by_pointers(configuration, typed, arguments);
                     });
}
cudaError_t launch_known(const ExecutionConfiguration& configuration, const void* kernel, void** arguments);

template <typename... Parameters> const void* address_of(void (*kernel)(Parameters...)) {
  return untyped(kernel);
}
inline const void* address_of(const void* kernel) { return kernel; }

}  // namespace __emulated

/// \param kernel  or its address. The rewriter drops a cast.
template <typename Kernel>
cudaError_t cudaLaunchKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr) {
  return __emulated::launch_known({grid, block, shared_bytes, stream}, __emulated::address_of(kernel),
                                  arguments);
}
/// The same with all of its blocks at once.
template <typename Kernel>
cudaError_t cudaLaunchCooperativeKernel(Kernel* kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  __emulated::ExecutionConfiguration configuration{grid, block, shared_bytes, stream};
  configuration.is_cooperative = true;
  return __emulated::launch_known(configuration, __emulated::address_of(kernel), arguments);
}

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8,
};
enum cudaAccessProperty {
  cudaAccessPropertyNormal,
  cudaAccessPropertyStreaming,
  cudaAccessPropertyPersisting
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};
union cudaLaunchAttributeValue {
  cudaAccessPolicyWindow accessPolicyWindow;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int cooperative;
  int programmaticStreamSerializationAllowed;
  int priority;
};
/// What a stream is told is advice.
using cudaStreamAttrID = cudaLaunchAttributeID;
using cudaStreamAttrValue = cudaLaunchAttributeValue;
inline constexpr cudaStreamAttrID cudaStreamAttributeAccessPolicyWindow =
    cudaLaunchAttributeAccessPolicyWindow;
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*) {
  return cudaSuccess;
}
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

namespace __emulated {

/// Of the attributes only the cooperative one is modelled; the others that are known here are advice.
cudaError_t read(const cudaLaunchConfig_t& config, ExecutionConfiguration& configuration);

}  // namespace __emulated

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  __emulated::ExecutionConfiguration configuration;
  if (const cudaError_t error = __emulated::read(*config, configuration)) return error;
  return __emulated::status_of([&] { __emulated::launch(configuration, kernel, arguments...); });
}
template <typename Kernel>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, Kernel* kernel, void** arguments) {
  __emulated::ExecutionConfiguration configuration;
  if (const cudaError_t error = __emulated::read(*config, configuration)) return error;
  return __emulated::launch_known(configuration, __emulated::address_of(kernel), arguments);
}
