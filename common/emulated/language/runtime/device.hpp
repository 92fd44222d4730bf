#pragma once
/// \file
/// CUDA's runtime: what the device is.

#include <unistd.h>

#include <cstddef>
#include <limits>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/errors.hpp"
#include "emulated/run/device.hpp"

#define CUDART_VERSION 13000

namespace __emulated {

inline std::size_t bytes_of_host_pages(int name) {
  return static_cast<std::size_t>(sysconf(name)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace __emulated

enum cudaComputeMode { cudaComputeModeDefault = 0, cudaComputeModeProhibited = 2 };
inline constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;
inline constexpr unsigned cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
                          cudaDeviceScheduleBlockingSync = 4, cudaDeviceMapHost = 8;

/// What the emulated device knows of itself: an H200's limits, and compute capability 8.0, as kernels are compiled. What says
/// how fast a GPU is, is 0.
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;  ///< the host's
  size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  size_t totalConstMem;
  int major, minor;
  int multiProcessorCount;
  int integrated, canMapHostMemory, concurrentKernels, ECCEnabled, asyncEngineCount, unifiedAddressing;
  int clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int computeMode, kernelExecTimeoutEnabled, deviceOverlap, streamPrioritiesSupported;
  int pciBusID, pciDeviceID, pciDomainID, pageableMemoryAccess;
  size_t textureAlignment;
  int maxThreadsPerMultiProcessor;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory, concurrentManagedAccess;
  int cooperativeLaunch;  ///< a barrier of a whole grid
  size_t sharedMemPerBlockOptin;
  int maxBlocksPerMultiProcessor;
  size_t reservedSharedMemPerBlock;
};

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return __emulated::noted(cudaErrorInvalidDevice);
  const __emulated::Properties& limits = __emulated::properties();
  *properties = {};
  __emulated::device_name.copy(properties->name, sizeof(properties->name) - 1);
  properties->totalGlobalMem = __emulated::bytes_of_host_pages(_SC_PHYS_PAGES);
  properties->sharedMemPerBlock = limits.default_shared_bytes;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->warpSize = warpSize;
  properties->memPitch = std::numeric_limits<int>::max();
  properties->maxThreadsPerBlock = static_cast<int>(limits.threads_per_block);
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = properties->maxThreadsPerBlock;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = static_cast<int>(limits.grid_size);
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->totalConstMem = size_t{64} << 10;
  properties->major = 8;
  properties->multiProcessorCount = static_cast<int>(limits.sms);
  properties->canMapHostMemory = properties->unifiedAddressing = 1;
  properties->managedMemory = properties->concurrentManagedAccess = 1;
  properties->maxThreadsPerMultiProcessor = static_cast<int>(limits.threads_per_sm);
  properties->sharedMemPerMultiprocessor = limits.shared_bytes_per_sm;
  properties->sharedMemPerBlockOptin = limits.shared_bytes_per_block;
  properties->maxBlocksPerMultiProcessor = static_cast<int>(limits.blocks_per_sm);
  properties->reservedSharedMemPerBlock = limits.reserved_shared_bytes;
  return cudaSuccess;
}

/// \cond
#define __EMULATED_ATTRIBUTES(X)                                                 \
  X(cudaDevAttrMaxThreadsPerBlock, 1, maxThreadsPerBlock)                        \
  X(cudaDevAttrMaxBlockDimX, 2, maxThreadsDim[0])                                \
  X(cudaDevAttrMaxBlockDimY, 3, maxThreadsDim[1])                                \
  X(cudaDevAttrMaxBlockDimZ, 4, maxThreadsDim[2])                                \
  X(cudaDevAttrMaxGridDimX, 5, maxGridSize[0])                                   \
  X(cudaDevAttrMaxGridDimY, 6, maxGridSize[1])                                   \
  X(cudaDevAttrMaxGridDimZ, 7, maxGridSize[2])                                   \
  X(cudaDevAttrMaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                    \
  X(cudaDevAttrTotalConstantMemory, 9, totalConstMem)                            \
  X(cudaDevAttrWarpSize, 10, warpSize)                                           \
  X(cudaDevAttrMaxRegistersPerBlock, 12, regsPerBlock)                           \
  X(cudaDevAttrClockRate, 13, clockRate)                                         \
  X(cudaDevAttrMultiProcessorCount, 16, multiProcessorCount)                     \
  X(cudaDevAttrIntegrated, 18, integrated)                                       \
  X(cudaDevAttrCanMapHostMemory, 19, canMapHostMemory)                           \
  X(cudaDevAttrComputeMode, 20, computeMode)                                     \
  X(cudaDevAttrConcurrentKernels, 31, concurrentKernels)                         \
  X(cudaDevAttrMemoryClockRate, 36, memoryClockRate)                             \
  X(cudaDevAttrGlobalMemoryBusWidth, 37, memoryBusWidth)                         \
  X(cudaDevAttrL2CacheSize, 38, l2CacheSize)                                     \
  X(cudaDevAttrMaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)     \
  X(cudaDevAttrUnifiedAddressing, 41, unifiedAddressing)                         \
  X(cudaDevAttrComputeCapabilityMajor, 75, major)                                \
  X(cudaDevAttrComputeCapabilityMinor, 76, minor)                                \
  X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor) \
  X(cudaDevAttrMaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor)         \
  X(cudaDevAttrManagedMemory, 83, managedMemory)                                 \
  X(cudaDevAttrPageableMemoryAccess, 88, pageableMemoryAccess)                   \
  X(cudaDevAttrConcurrentManagedAccess, 89, concurrentManagedAccess)             \
  X(cudaDevAttrCooperativeLaunch, 95, cooperativeLaunch)                         \
  X(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)         \
  X(cudaDevAttrMaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor)
#define __EMULATED_ATTRIBUTE(name, number, member) name = number,
enum cudaDeviceAttr { __EMULATED_ATTRIBUTES(__EMULATED_ATTRIBUTE) };
#undef __EMULATED_ATTRIBUTE
/// \endcond

inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess)
    return error;
#define __EMULATED_ATTRIBUTE(name, number, member) \
  if (attribute == name) {                         \
    *value = static_cast<int>(properties.member);  \
    return cudaSuccess;                            \
  }
  __EMULATED_ATTRIBUTES(__EMULATED_ATTRIBUTE)
#undef __EMULATED_ATTRIBUTE
  return __emulated::noted(cudaErrorInvalidValue);
}
#undef __EMULATED_ATTRIBUTES

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  return __emulated::error_unless(device == 0, cudaErrorInvalidDevice);
}
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
/// Buffers stay until they are freed.
inline cudaError_t cudaDeviceReset() { return cudaSuccess; }
/// Of the host's memory.
inline cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  *available = __emulated::bytes_of_host_pages(_SC_AVPHYS_PAGES);
  *total = __emulated::bytes_of_host_pages(_SC_PHYS_PAGES);
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
