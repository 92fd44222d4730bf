#pragma once
/// \file
/// CUDA's runtime as far as ordinary programs and reduce.cuh need it, on the emulated device, so that one source compiles for
/// both. All that a stream or a call would leave for later is done at once, and a faulty kernel ends the program at its launch:
/// what a GPU's calls report late, or not at all, is said at once. One thing is more lenient than a GPU: the host may use the
/// device's pointers. What is not here is named by `unsupported.hpp`.

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "emulated/language/cuda.hpp"
#include "emulated/memory/memory.hpp"

using std::size_t;

#define CUDART_VERSION 13000

// ---- errors ----

/// \cond
#define __EMULATED_ERRORS(X)                                                                          \
  X(cudaSuccess, 0, "no error")                                                                       \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                     \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                    \
  X(cudaErrorInitializationError, 3, "initialization error")                                          \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                               \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                              \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                      \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                         \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                     \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                            \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                   \
  X(cudaErrorNotReady, 600, "device not ready")                                                       \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                         \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                        \
  X(cudaErrorNotSupported, 801, "operation not supported")                                            \
  X(cudaErrorUnknown, 999, "unknown error")
#define __EMULATED_ERROR(name, number, text) name = number,
enum cudaError { __EMULATED_ERRORS(__EMULATED_ERROR) };
#undef __EMULATED_ERROR
/// \endcond
using cudaError_t = cudaError;

inline const char* cudaGetErrorString(cudaError_t status) {
#define __EMULATED_ERROR(name, number, text) \
  if (status == name) return text;
  __EMULATED_ERRORS(__EMULATED_ERROR)
#undef __EMULATED_ERROR
  return "unrecognized error code";
}
inline const char* cudaGetErrorName(cudaError_t status) {
#define __EMULATED_ERROR(name, number, text) \
  if (status == name) return #name;
  __EMULATED_ERRORS(__EMULATED_ERROR)
#undef __EMULATED_ERROR
  return "unrecognized error code";
}
#undef __EMULATED_ERRORS

namespace __emulated {

/// The last call's error that the host thread has not asked for. (A launch has none: it throws.)
inline thread_local cudaError_t last_error = cudaSuccess;

inline cudaError_t noted(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}
inline cudaError_t error_unless(bool is_valid, cudaError_t error = cudaErrorInvalidValue) {
  return noted(is_valid ? cudaSuccess : error);
}

}  // namespace __emulated

inline cudaError_t cudaPeekAtLastError() { return __emulated::last_error; }
inline cudaError_t cudaGetLastError() { return std::exchange(__emulated::last_error, cudaSuccess); }

// ---- kernels ----

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

// ---- the device ----

namespace __emulated {

inline std::size_t bytes_of_host_pages(int name) {
  return static_cast<std::size_t>(sysconf(name)) * static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace __emulated

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
  int memoryBusWidth, l2CacheSize;
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

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
};

inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess)
    return error;
  const auto found = [value](auto number) {
    *value = static_cast<int>(number);
    return cudaSuccess;
  };
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return found(properties.maxThreadsPerBlock);
    case cudaDevAttrMaxBlockDimX: return found(properties.maxThreadsDim[0]);
    case cudaDevAttrMaxBlockDimY: return found(properties.maxThreadsDim[1]);
    case cudaDevAttrMaxBlockDimZ: return found(properties.maxThreadsDim[2]);
    case cudaDevAttrMaxGridDimX: return found(properties.maxGridSize[0]);
    case cudaDevAttrMaxGridDimY: return found(properties.maxGridSize[1]);
    case cudaDevAttrMaxGridDimZ: return found(properties.maxGridSize[2]);
    case cudaDevAttrMaxSharedMemoryPerBlock: return found(properties.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory: return found(properties.totalConstMem);
    case cudaDevAttrWarpSize: return found(properties.warpSize);
    case cudaDevAttrMaxRegistersPerBlock: return found(properties.regsPerBlock);
    case cudaDevAttrMultiProcessorCount: return found(properties.multiProcessorCount);
    case cudaDevAttrMaxThreadsPerMultiProcessor: return found(properties.maxThreadsPerMultiProcessor);
    case cudaDevAttrUnifiedAddressing: return found(properties.unifiedAddressing);
    case cudaDevAttrComputeCapabilityMajor: return found(properties.major);
    case cudaDevAttrComputeCapabilityMinor: return found(properties.minor);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return found(properties.sharedMemPerMultiprocessor);
    case cudaDevAttrManagedMemory: return found(properties.managedMemory);
    case cudaDevAttrConcurrentManagedAccess: return found(properties.concurrentManagedAccess);
    case cudaDevAttrCooperativeLaunch: return found(properties.cooperativeLaunch);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return found(properties.sharedMemPerBlockOptin);
    case cudaDevAttrMaxBlocksPerMultiprocessor: return found(properties.maxBlocksPerMultiProcessor);
  }
  return __emulated::noted(cudaErrorInvalidValue);
}

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

// ---- streams and events ----

using cudaEvent_t = struct CUevent_st*;
using cudaHostFn_t = void (*)(void* data);

inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;

namespace __emulated {

/// A stream or an event: a number, as nothing waits in it.
template <typename Handle> cudaError_t number_next(Handle* handle) {
  static std::atomic<std::uintptr_t> last = 0;
  *handle = reinterpret_cast<Handle>(++last);
  return cudaSuccess;
}
template <typename Handle> cudaError_t error_unless_made(Handle handle) {
  return error_unless(handle != nullptr, cudaErrorInvalidResourceHandle);
}

}  // namespace __emulated

inline cudaError_t cudaStreamCreate(cudaStream_t* stream) { return __emulated::number_next(stream); }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return __emulated::number_next(stream);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return __emulated::number_next(stream);
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return __emulated::error_unless_made(stream); }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned = 0) {
  return __emulated::error_unless_made(event);
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return cudaSuccess;
}

inline cudaError_t cudaEventCreate(cudaEvent_t* event) { return __emulated::number_next(event); }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return __emulated::number_next(event);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return __emulated::error_unless_made(event); }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t = nullptr) {
  return __emulated::error_unless_made(event);
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) { return __emulated::error_unless_made(event); }
inline cudaError_t cudaEventQuery(cudaEvent_t event) { return __emulated::error_unless_made(event); }

/// How long a CPU takes says nothing of a GPU: the time is no number, and one line on stderr says why.
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = std::numeric_limits<float>::quiet_NaN();
  static std::once_flag said;
  std::call_once(said, [] {
    const std::string note = std::string{program_invocation_short_name} +
                             ": note: cudaEventElapsedTime: the emulated device has no time: count with its "
                             "counters instead\n";
    std::fputs(note.c_str(), stderr);
  });
  return __emulated::noted(cudaErrorNotSupported);
}

// ---- memory ----

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                          cudaHostAllocWriteCombined = 4;
inline constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2;

namespace __emulated {

enum class Kind { device, managed, pinned };

/// What the host has asked for beside the device's plain buffers; device_mutex() guards it.
struct KnownMemory {
  std::map<const std::byte*, Kind> host_buffers;      ///< that the host may use as well
  std::map<const std::byte*, std::size_t> variables;  ///< the bytes of those whose address it knows
};
inline KnownMemory& known_memory() {
  static KnownMemory known;
  return known;
}

/// What may use some bytes.
struct Sides {
  bool host, device;
};

inline Sides sides_of(const void* begin, std::size_t bytes) {
  const std::lock_guard lock{device_mutex()};
  const auto* const first = static_cast<const std::byte*>(begin);
  const auto& [host_buffers, variables] = known_memory();
  if (const auto after = variables.upper_bound(first); after != variables.begin()) {
    const auto& [variable, size] = *std::prev(after);
    const auto offset = static_cast<std::size_t>(first - variable);
    if (offset < size) return {false, bytes <= size - offset};
  }
  const Buffer* const buffer = global_memory().nearest(first);
  if (buffer == nullptr) return {true, false};
  if (!buffer->contains(first, bytes)) return {false, false};
  return {host_buffers.contains(buffer->begin()), true};
}

inline bool can_copy(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const Sides target = sides_of(to, bytes);
  const Sides source = sides_of(from, bytes);
  switch (kind) {
    case cudaMemcpyHostToHost: return target.host && source.host;
    case cudaMemcpyHostToDevice: return target.device && source.host;
    case cudaMemcpyDeviceToHost: return target.host && source.device;
    case cudaMemcpyDeviceToDevice: return target.device && source.device;
    case cudaMemcpyDefault: return (target.host || target.device) && (source.host || source.device);
  }
  return false;
}

/// Kernels may read what the host has written; a variable they may read anyhow.
inline void mark_written(void* begin, std::size_t bytes) {
  const bool is_in_buffer = [begin] {
    const std::lock_guard lock{device_mutex()};
    return global_memory().nearest(static_cast<const std::byte*>(begin)) != nullptr;
  }();
  if (is_in_buffer) mark_initialised(begin, bytes);
}

template <typename T> cudaError_t allocate_as(Kind kind, T** pointer, std::size_t bytes) try {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  void* const begin = allocate(bytes);
  std::memset(begin, 0xFF, bytes);  // on a GPU, too, it is not zero
  *pointer = static_cast<T*>(begin);
  if (kind == Kind::device) return cudaSuccess;
  mark_initialised(begin, bytes);  // nothing tells the device what the host writes there
  const std::lock_guard lock{device_mutex()};
  known_memory().host_buffers[static_cast<const std::byte*>(begin)] = kind;
  return cudaSuccess;
} catch (const std::bad_alloc&) {
  return noted(cudaErrorMemoryAllocation);
}

inline cudaError_t release_if(bool is_pinned, void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const auto* const begin = static_cast<const std::byte*>(pointer);
  {
    const std::lock_guard lock{device_mutex()};
    const Buffer* const buffer = global_memory().nearest(begin);
    auto& host_buffers = known_memory().host_buffers;
    const auto known = host_buffers.find(begin);
    const bool pinned = known != host_buffers.end() && known->second == Kind::pinned;
    if (buffer == nullptr || buffer->begin() != begin || pinned != is_pinned)
      return noted(cudaErrorInvalidValue);
    host_buffers.erase(begin);
  }
  release(pointer);
  return cudaSuccess;
}

}  // namespace __emulated

template <typename T> cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return __emulated::allocate_as(__emulated::Kind::device, pointer, bytes);
}
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned = cudaMemAttachGlobal) {
  return __emulated::allocate_as(__emulated::Kind::managed, pointer, bytes);
}
inline cudaError_t cudaFree(void* pointer) { return __emulated::release_if(false, pointer); }

template <typename T> cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
inline cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }

/// Of the host: kernels may use it, too, by the same pointer.
template <typename T> cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned) {
  return __emulated::allocate_as(__emulated::Kind::pinned, pointer, bytes);
}
template <typename T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned flags = cudaHostAllocDefault) {
  return cudaHostAlloc(pointer, bytes, flags);
}
inline cudaError_t cudaFreeHost(void* pointer) { return __emulated::release_if(true, pointer); }
template <typename T> cudaError_t cudaHostGetDevicePointer(T** on_device, void* on_host, unsigned) {
  const __emulated::Sides sides = __emulated::sides_of(on_host, 1);
  *on_device = static_cast<T*>(on_host);
  return __emulated::error_unless(sides.host && sides.device);
}

inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return cudaSuccess;
  if (!__emulated::can_copy(to, from, bytes, kind)) return __emulated::noted(cudaErrorInvalidValue);
  std::memcpy(to, from, bytes);
  __emulated::mark_written(to, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}

inline cudaError_t cudaMemset(void* begin, int value, size_t bytes) {
  if (bytes == 0) return cudaSuccess;
  if (!__emulated::sides_of(begin, bytes).device) return __emulated::noted(cudaErrorInvalidValue);
  std::memset(begin, value, bytes);
  __emulated::mark_written(begin, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* begin, int value, size_t bytes, cudaStream_t = nullptr) {
  return cudaMemset(begin, value, bytes);
}

/// Rows of `width` bytes, each `pitch` bytes after the one before.
template <typename T> cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  constexpr size_t alignment = 512;
  *pitch = (width + alignment - 1) / alignment * alignment;
  return cudaMalloc(pointer, *pitch * height);
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  cudaError_t status = __emulated::error_unless(width <= to_pitch && width <= from_pitch);
  for (size_t row = 0; row < height && status == cudaSuccess; ++row) {
    status = cudaMemcpy(static_cast<std::byte*>(to) + row * to_pitch,
                        static_cast<const std::byte*>(from) + row * from_pitch, width, kind);
  }
  return status;
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t = nullptr) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
inline cudaError_t cudaMemset2D(void* begin, size_t pitch, int value, size_t width, size_t height) {
  cudaError_t status = __emulated::error_unless(width <= pitch);
  for (size_t row = 0; row < height && status == cudaSuccess; ++row)
    status = cudaMemset(static_cast<std::byte*>(begin) + row * pitch, value, width);
  return status;
}

/// Where a `__device__` or `__constant__` variable is.
template <typename T> cudaError_t cudaGetSymbolAddress(void** pointer, T& symbol) {
  *pointer = const_cast<std::remove_cv_t<T>*>(&symbol);
  const std::lock_guard lock{__emulated::device_mutex()};
  __emulated::known_memory().variables[static_cast<const std::byte*>(*pointer)] = sizeof(T);
  return cudaSuccess;
}
template <typename T> cudaError_t cudaGetSymbolSize(size_t* bytes, T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}

/// To and from such a variable, `offset` bytes after its beginning.
template <typename T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  void* begin = nullptr;
  cudaGetSymbolAddress(&begin, symbol);
  if (offset > sizeof(T) || bytes > sizeof(T) - offset) return __emulated::noted(cudaErrorInvalidValue);
  return cudaMemcpy(static_cast<std::byte*>(begin) + offset, from, bytes, kind);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  void* begin = nullptr;
  cudaGetSymbolAddress(&begin, symbol);
  if (offset > sizeof(T) || bytes > sizeof(T) - offset) return __emulated::noted(cudaErrorInvalidValue);
  return cudaMemcpy(to, static_cast<const std::byte*>(begin) + offset, bytes, kind);
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, T& symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t = nullptr) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}

/// Advice for managed memory.
template <typename... Where>
cudaError_t cudaMemPrefetchAsync(const void* begin, size_t bytes, const Where&...) {
  const __emulated::Sides sides = __emulated::sides_of(begin, bytes);
  return __emulated::error_unless(sides.host && sides.device);
}
