#pragma once
/// \file
/// CUDA's runtime as far as a first program and reduce.cuh need it, on the emulated device, so that one source compiles for
/// both. A launch has ended when it returns, and a faulty kernel ends the program there: what a GPU's calls report late, or
/// not at all, is said at once. One thing is more lenient than a GPU: the host may use the device's pointers.

#include <cstddef>
#include <cstring>
#include <new>
#include <stdexcept>

#include "device/emulated/cuda.hpp"
#include "device/emulated/memory.hpp"

using std::size_t;

#define CUDART_VERSION 13000

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorNotSupported = 801,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };

inline const char* cudaGetErrorString(cudaError_t status) {
  switch (status) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNoKernelImageForDevice: return "no kernel image is available for execution on the device";
    case cudaErrorNotSupported: return "operation not supported";
  }
  return "unrecognized error code";
}

// ---- kernels ----

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

template <typename... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute, int bytes) try {
  reduction::emulated::allow_dynamic_shared_memory(reinterpret_cast<const void*>(kernel),
                                                   static_cast<size_t>(bytes));
  return cudaSuccess;
} catch (const std::invalid_argument&) {
  return cudaErrorInvalidValue;
}

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
  if (threads <= 0) return cudaErrorInvalidValue;
  const size_t resident =
      reduction::emulated::resident_blocks(static_cast<unsigned>(threads), dynamic_shared_bytes);
  *blocks = static_cast<int>(resident / reduction::emulated::properties().sms);
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
  if (config->numAttrs != 0) return cudaErrorNotSupported;
  reduction::emulated::launch({config->gridDim, config->blockDim, config->dynamicSmemBytes}, kernel,
                              arguments...);
  return cudaSuccess;
}

inline cudaError_t cudaGetLastError() { return cudaSuccess; }

// ---- the device ----

enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16 };

inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int device) {
  if (device != 0) return cudaErrorInvalidValue;
  *value = static_cast<int>(reduction::emulated::properties().sms);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

// ---- memory ----

template <typename T> cudaError_t cudaMalloc(T** pointer, size_t bytes) try {
  if (bytes == 0) {
    *pointer = nullptr;
    return cudaSuccess;
  }
  *pointer = static_cast<T*>(reduction::emulated::allocate(bytes));
  std::memset(*pointer, 0xFF, bytes);  // on a GPU, too, it is not zero
  return cudaSuccess;
} catch (const std::bad_alloc&) {
  return cudaErrorMemoryAllocation;
}

/// Whether these bytes are in one buffer of the emulated device.
inline bool is_on_device(const void* begin, size_t bytes) {
  const auto* const first = static_cast<const std::byte*>(begin);
  const reduction::emulated::Buffer* const buffer = reduction::emulated::global_memory().nearest(first);
  return buffer != nullptr && buffer->contains(first, bytes);
}

inline cudaError_t cudaFree(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const auto* const begin = static_cast<const std::byte*>(pointer);
  const reduction::emulated::Buffer* const buffer = reduction::emulated::global_memory().nearest(begin);
  if (buffer == nullptr || buffer->begin() != begin) return cudaErrorInvalidValue;
  reduction::emulated::release(pointer);
  return cudaSuccess;
}

template <typename T> cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
inline cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }

inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return cudaSuccess;
  if (is_on_device(to, bytes) != (kind != cudaMemcpyDeviceToHost)) return cudaErrorInvalidValue;
  if (is_on_device(from, bytes) != (kind != cudaMemcpyHostToDevice)) return cudaErrorInvalidValue;
  std::memcpy(to, from, bytes);
  if (kind != cudaMemcpyDeviceToHost) reduction::emulated::mark_initialised(to, bytes);
  return cudaSuccess;
}

/// To and from a `__device__` or `__constant__` variable, `offset` bytes after its beginning.
template <typename T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  if (offset > sizeof(T) || bytes > sizeof(T) - offset) return cudaErrorInvalidValue;
  if (bytes == 0) return cudaSuccess;
  if (is_on_device(from, bytes) != (kind == cudaMemcpyDeviceToDevice)) return cudaErrorInvalidValue;
  std::memcpy(reinterpret_cast<std::byte*>(const_cast<std::remove_cv_t<T>*>(&symbol)) + offset, from, bytes);
  return cudaSuccess;
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  if (offset > sizeof(T) || bytes > sizeof(T) - offset) return cudaErrorInvalidValue;
  if (bytes == 0) return cudaSuccess;
  if (is_on_device(to, bytes) != (kind == cudaMemcpyDeviceToDevice)) return cudaErrorInvalidValue;
  std::memcpy(to, reinterpret_cast<const std::byte*>(const_cast<std::remove_cv_t<T>*>(&symbol)) + offset,
              bytes);
  if (kind == cudaMemcpyDeviceToDevice) reduction::emulated::mark_initialised(to, bytes);
  return cudaSuccess;
}
