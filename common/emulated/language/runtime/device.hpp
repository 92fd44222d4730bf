#pragma once
/// \file
/// CUDA's runtime: what the device is.

#include <cstddef>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/errors.hpp"

#define CUDART_VERSION 13000
#define CUDA_VERSION CUDART_VERSION

enum cudaComputeMode { cudaComputeModeDefault = 0, cudaComputeModeProhibited = 2 };
inline constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;
inline constexpr unsigned cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
                          cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4,
                          cudaDeviceMapHost = 8;

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

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);

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
  X(cudaDevAttrGpuOverlap, 15, deviceOverlap)                                    \
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

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);

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
cudaError_t cudaDeviceSynchronize();
/// Buffers stay until they are freed.
inline cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
/// Of the host's memory.
namespace __emulated {

/// Bytes that buffers can still take.
std::size_t memory_left();

}  // namespace __emulated
cudaError_t cudaMemGetInfo(size_t* available, size_t* total);
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

// What a profiler ought to see.
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
