#include "emulated/language/runtime/device.hpp"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <mutex>

#include "emulated/memory/kernel_heap.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/run/device.hpp"

namespace {

std::size_t bytes_of_host_pages(int name) {
  return static_cast<std::size_t>(sysconf(name)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return __emulated::noted(cudaErrorInvalidDevice);
  const __emulated::Properties& limits = __emulated::properties();
  *properties = {};
  __emulated::device_name.copy(properties->name, sizeof(properties->name) - 1);
  properties->totalGlobalMem = bytes_of_host_pages(_SC_PHYS_PAGES);
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
  properties->streamPrioritiesSupported = properties->computePreemptionSupported = 1;
  properties->canUseHostPointerForRegisteredMem = properties->hostRegisterSupported = 1;
  properties->memoryPoolsSupported = properties->hostRegisterReadOnlySupported = 1;
  properties->concurrentKernels = properties->deviceOverlap = properties->asyncEngineCount = 1;
  properties->textureAlignment = properties->surfaceAlignment = 512;
  properties->texturePitchAlignment = 32;
  properties->cooperativeLaunch = 1;
  properties->maxThreadsPerMultiProcessor = static_cast<int>(limits.threads_per_sm);
  properties->sharedMemPerMultiprocessor = limits.shared_bytes_per_sm;
  properties->sharedMemPerBlockOptin = limits.shared_bytes_per_block;
  properties->maxBlocksPerMultiProcessor = static_cast<int>(limits.blocks_per_sm);
  properties->reservedSharedMemPerBlock = limits.reserved_shared_bytes;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
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
  *value = 0;
  return __emulated::error_unless(attribute > 0 && attribute <= cudaDevAttrD3D12CigSupported);
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  *value = limit == cudaLimitStackSize        ? size_t{64} << 10
           : limit == cudaLimitMallocHeapSize ? __emulated::kernel_heap().capacity()
           : limit == cudaLimitPrintfFifoSize ? size_t{1} << 20
                                              : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if (limit == cudaLimitMallocHeapSize)
    return __emulated::error_unless(__emulated::kernel_heap().set_capacity(value));
  return __emulated::error_unless(limit != cudaLimitStackSize || value <= size_t{64} << 10,
                                  cudaErrorMemoryAllocation);
}

/// Of a buffer the host has given those pages that were touched, but it may come to all.
std::size_t __emulated::memory_left() {
  const std::lock_guard lock{device_mutex()};
  const std::size_t all = bytes_of_host_pages(_SC_PHYS_PAGES);
  return all - std::min(all, global_memory().held_bytes());
}

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  *available = std::min(bytes_of_host_pages(_SC_AVPHYS_PAGES), __emulated::memory_left());
  *total = bytes_of_host_pages(_SC_PHYS_PAGES);
  return cudaSuccess;
}
