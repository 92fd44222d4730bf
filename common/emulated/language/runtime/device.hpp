#pragma once
/// \file
/// CUDA's runtime: what the device is.

#include <cstddef>
#include <cstdio>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/errors.hpp"

#define CUDART_VERSION 13000
#define CUDA_VERSION CUDART_VERSION

enum cudaComputeMode {
  cudaComputeModeDefault,
  cudaComputeModeExclusive,
  cudaComputeModeProhibited,
  cudaComputeModeExclusiveProcess
};
inline constexpr int cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2;
inline constexpr unsigned cudaDeviceScheduleAuto = 0, cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2,
                          cudaDeviceScheduleBlockingSync = 4, cudaDeviceBlockingSync = 4,
                          cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16;

/// What the emulated device knows of itself: an H200's limits, and compute capability 8.0, as kernels are compiled. What says
/// how fast a GPU is, is 0.
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  size_t totalGlobalMem;  ///< the host's
  size_t sharedMemPerBlock, sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock;
  int regsPerBlock, regsPerMultiprocessor, warpSize;
  size_t memPitch, totalConstMem, textureAlignment, texturePitchAlignment, surfaceAlignment;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor, multiProcessorCount;
  int major, minor;
  int integrated, canMapHostMemory, concurrentKernels, ECCEnabled, asyncEngineCount, unifiedAddressing;
  int clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int computeMode, kernelExecTimeoutEnabled, deviceOverlap, streamPrioritiesSupported;
  int pciBusID, pciDeviceID, pciDomainID, tccDriver, isMultiGpuBoard, multiGpuBoardGroupID;
  int globalL1CacheSupported, localL1CacheSupported, accessPolicyMaxWindowSize;
  int managedMemory, concurrentManagedAccess, pageableMemoryAccess, pageableMemoryAccessUsesHostPageTables;
  int directManagedMemAccessFromHost, hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio;
  int computePreemptionSupported, canUseHostPointerForRegisteredMem, hostRegisterSupported;
  int hostRegisterReadOnlySupported, memoryPoolsSupported, sparseCudaArraySupported, ipcEventSupported;
  int cooperativeLaunch;  ///< a barrier of a whole grid
  int cooperativeMultiDeviceLaunch, clusterLaunch, unifiedFunctionPointers, gpuDirectRDMASupported;
  unsigned memoryPoolSupportedHandleTypes;
  // There are no textures and no surfaces.
  int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear, maxTexture2D[2], maxTexture2DMipmap[2];
  int maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
  int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
  int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3];
  int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
};

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);

/// \cond
#define __EMULATED_ATTRIBUTES(X)                                                                    \
  X(cudaDevAttrMaxThreadsPerBlock, 1, maxThreadsPerBlock)                                           \
  X(cudaDevAttrMaxBlockDimX, 2, maxThreadsDim[0])                                                   \
  X(cudaDevAttrMaxBlockDimY, 3, maxThreadsDim[1])                                                   \
  X(cudaDevAttrMaxBlockDimZ, 4, maxThreadsDim[2])                                                   \
  X(cudaDevAttrMaxGridDimX, 5, maxGridSize[0])                                                      \
  X(cudaDevAttrMaxGridDimY, 6, maxGridSize[1])                                                      \
  X(cudaDevAttrMaxGridDimZ, 7, maxGridSize[2])                                                      \
  X(cudaDevAttrMaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                                       \
  X(cudaDevAttrTotalConstantMemory, 9, totalConstMem)                                               \
  X(cudaDevAttrWarpSize, 10, warpSize)                                                              \
  X(cudaDevAttrMaxPitch, 11, memPitch)                                                              \
  X(cudaDevAttrMaxRegistersPerBlock, 12, regsPerBlock)                                              \
  X(cudaDevAttrClockRate, 13, clockRate)                                                            \
  X(cudaDevAttrTextureAlignment, 14, textureAlignment)                                              \
  X(cudaDevAttrGpuOverlap, 15, deviceOverlap)                                                       \
  X(cudaDevAttrMultiProcessorCount, 16, multiProcessorCount)                                        \
  X(cudaDevAttrKernelExecTimeout, 17, kernelExecTimeoutEnabled)                                     \
  X(cudaDevAttrIntegrated, 18, integrated)                                                          \
  X(cudaDevAttrCanMapHostMemory, 19, canMapHostMemory)                                              \
  X(cudaDevAttrComputeMode, 20, computeMode)                                                        \
  X(cudaDevAttrSurfaceAlignment, 30, surfaceAlignment)                                              \
  X(cudaDevAttrConcurrentKernels, 31, concurrentKernels)                                            \
  X(cudaDevAttrEccEnabled, 32, ECCEnabled)                                                          \
  X(cudaDevAttrPciBusId, 33, pciBusID)                                                              \
  X(cudaDevAttrPciDeviceId, 34, pciDeviceID)                                                        \
  X(cudaDevAttrTccDriver, 35, tccDriver)                                                            \
  X(cudaDevAttrMemoryClockRate, 36, memoryClockRate)                                                \
  X(cudaDevAttrGlobalMemoryBusWidth, 37, memoryBusWidth)                                            \
  X(cudaDevAttrL2CacheSize, 38, l2CacheSize)                                                        \
  X(cudaDevAttrMaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)                        \
  X(cudaDevAttrAsyncEngineCount, 40, asyncEngineCount)                                              \
  X(cudaDevAttrUnifiedAddressing, 41, unifiedAddressing)                                            \
  X(cudaDevAttrPciDomainId, 50, pciDomainID)                                                        \
  X(cudaDevAttrTexturePitchAlignment, 51, texturePitchAlignment)                                    \
  X(cudaDevAttrComputeCapabilityMajor, 75, major)                                                   \
  X(cudaDevAttrComputeCapabilityMinor, 76, minor)                                                   \
  X(cudaDevAttrStreamPrioritiesSupported, 78, streamPrioritiesSupported)                            \
  X(cudaDevAttrGlobalL1CacheSupported, 79, globalL1CacheSupported)                                  \
  X(cudaDevAttrLocalL1CacheSupported, 80, localL1CacheSupported)                                    \
  X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor)                    \
  X(cudaDevAttrMaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor)                            \
  X(cudaDevAttrManagedMemory, 83, managedMemory)                                                    \
  X(cudaDevAttrIsMultiGpuBoard, 84, isMultiGpuBoard)                                                \
  X(cudaDevAttrMultiGpuBoardGroupID, 85, multiGpuBoardGroupID)                                      \
  X(cudaDevAttrHostNativeAtomicSupported, 86, hostNativeAtomicSupported)                            \
  X(cudaDevAttrSingleToDoublePrecisionPerfRatio, 87, singleToDoublePrecisionPerfRatio)              \
  X(cudaDevAttrPageableMemoryAccess, 88, pageableMemoryAccess)                                      \
  X(cudaDevAttrConcurrentManagedAccess, 89, concurrentManagedAccess)                                \
  X(cudaDevAttrComputePreemptionSupported, 90, computePreemptionSupported)                          \
  X(cudaDevAttrCanUseHostPointerForRegisteredMem, 91, canUseHostPointerForRegisteredMem)            \
  X(cudaDevAttrCooperativeLaunch, 95, cooperativeLaunch)                                            \
  X(cudaDevAttrCooperativeMultiDeviceLaunch, 96, cooperativeMultiDeviceLaunch)                      \
  X(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)                            \
  X(cudaDevAttrHostRegisterSupported, 99, hostRegisterSupported)                                    \
  X(cudaDevAttrPageableMemoryAccessUsesHostPageTables, 100, pageableMemoryAccessUsesHostPageTables) \
  X(cudaDevAttrDirectManagedMemAccessFromHost, 101, directManagedMemAccessFromHost)                 \
  X(cudaDevAttrMaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor)                         \
  X(cudaDevAttrMaxPersistingL2CacheSize, 108, persistingL2CacheMaxSize)                             \
  X(cudaDevAttrMaxAccessPolicyWindowSize, 109, accessPolicyMaxWindowSize)                           \
  X(cudaDevAttrReservedSharedMemoryPerBlock, 111, reservedSharedMemPerBlock)                        \
  X(cudaDevAttrSparseCudaArraySupported, 112, sparseCudaArraySupported)                             \
  X(cudaDevAttrHostRegisterReadOnlySupported, 113, hostRegisterReadOnlySupported)                   \
  X(cudaDevAttrMemoryPoolsSupported, 115, memoryPoolsSupported)                                     \
  X(cudaDevAttrGPUDirectRDMASupported, 116, gpuDirectRDMASupported)                                 \
  X(cudaDevAttrMemoryPoolSupportedHandleTypes, 119, memoryPoolSupportedHandleTypes)                 \
  X(cudaDevAttrClusterLaunch, 120, clusterLaunch)                                                   \
  X(cudaDevAttrIpcEventSupport, 125, ipcEventSupported)
#define __EMULATED_ATTRIBUTE(name, number, member) name = number,
enum cudaDeviceAttr : int { __EMULATED_ATTRIBUTES(__EMULATED_ATTRIBUTE) };
#undef __EMULATED_ATTRIBUTE
/// \endcond
/// Those of textures, surfaces and other things that are not there.
inline constexpr cudaDeviceAttr cudaDevAttrMaxTexture1DWidth{21}, cudaDevAttrMaxTexture2DWidth{22},
    cudaDevAttrMaxTexture2DHeight{23}, cudaDevAttrMaxTexture3DWidth{24}, cudaDevAttrMaxTexture3DHeight{25},
    cudaDevAttrMaxTexture3DDepth{26}, cudaDevAttrMaxTexture2DLayeredWidth{27},
    cudaDevAttrMaxTexture2DLayeredHeight{28}, cudaDevAttrMaxTexture2DLayeredLayers{29},
    cudaDevAttrMaxTexture1DLayeredWidth{42}, cudaDevAttrMaxTexture1DLayeredLayers{43},
    cudaDevAttrMaxTexture2DGatherWidth{45}, cudaDevAttrMaxTexture2DGatherHeight{46},
    cudaDevAttrMaxTexture3DWidthAlt{47}, cudaDevAttrMaxTexture3DHeightAlt{48},
    cudaDevAttrMaxTexture3DDepthAlt{49}, cudaDevAttrMaxTextureCubemapWidth{52},
    cudaDevAttrMaxTextureCubemapLayeredWidth{53}, cudaDevAttrMaxTextureCubemapLayeredLayers{54},
    cudaDevAttrMaxSurface1DWidth{55}, cudaDevAttrMaxSurface2DWidth{56}, cudaDevAttrMaxSurface2DHeight{57},
    cudaDevAttrMaxSurface3DWidth{58}, cudaDevAttrMaxSurface3DHeight{59}, cudaDevAttrMaxSurface3DDepth{60},
    cudaDevAttrMaxSurface1DLayeredWidth{61}, cudaDevAttrMaxSurface1DLayeredLayers{62},
    cudaDevAttrMaxSurface2DLayeredWidth{63}, cudaDevAttrMaxSurface2DLayeredHeight{64},
    cudaDevAttrMaxSurface2DLayeredLayers{65}, cudaDevAttrMaxSurfaceCubemapWidth{66},
    cudaDevAttrMaxSurfaceCubemapLayeredWidth{67}, cudaDevAttrMaxSurfaceCubemapLayeredLayers{68},
    cudaDevAttrMaxTexture1DLinearWidth{69}, cudaDevAttrMaxTexture2DLinearWidth{70},
    cudaDevAttrMaxTexture2DLinearHeight{71}, cudaDevAttrMaxTexture2DLinearPitch{72},
    cudaDevAttrMaxTexture2DMipmappedWidth{73}, cudaDevAttrMaxTexture2DMipmappedHeight{74},
    cudaDevAttrMaxTexture1DMipmappedWidth{77}, cudaDevAttrCanFlushRemoteWrites{98},
    cudaDevAttrTimelineSemaphoreInteropSupported{114}, cudaDevAttrGPUDirectRDMAFlushWritesOptions{117},
    cudaDevAttrGPUDirectRDMAWritesOrdering{118}, cudaDevAttrDeferredMappingCudaArraySupported{121},
    cudaDevAttrMemSyncDomainCount{126}, cudaDevAttrNumaConfig{130}, cudaDevAttrNumaId{131},
    cudaDevAttrMpsEnabled{133}, cudaDevAttrHostNumaId{134}, cudaDevAttrD3D12CigSupported{135};

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
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
inline cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  *flags = cudaDeviceScheduleAuto;
  return cudaSuccess;
}
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }
inline cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int device) {
  std::snprintf(id, static_cast<size_t>(bytes), "0000:00:00.0");
  return __emulated::error_unless(device == 0, cudaErrorInvalidDevice);
}

// ---- limits ----

enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize
};
/// Stacks have 64 KiB, and what is printed has no end; the heap can be made larger before kernels have used it.
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit);
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

// ---- other devices, which there are none of ----

inline cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  *can_access = 0;
  return __emulated::error_unless(device == 0 && peer == 0, cudaErrorInvalidDevice);
}
inline cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return __emulated::noted(cudaErrorInvalidDevice);
}
inline cudaError_t cudaDeviceDisablePeerAccess(int) {
  return __emulated::noted(cudaErrorPeerAccessNotEnabled);
}

// ---- memory ----

namespace __emulated {

/// Bytes that buffers can still take.
std::size_t memory_left();

}  // namespace __emulated
/// Of the host's memory.
cudaError_t cudaMemGetInfo(size_t* available, size_t* total);
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

// What a profiler ought to see.
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
