#pragma once
/// \file
/// CUDA's runtime as far as a first program needs it, on the emulated device, so that one main.cu compiles for both. A
/// launch has ended when it returns, and a faulty kernel ends the program there: what a GPU's calls report late, or not at
/// all, is said at once. One thing is more lenient than a GPU: the host may use the device's pointers.

#include <cstring>
#include <new>
#include <stdexcept>

#include "device/dialect.cuh"
#include "device/emulated/memory.hpp"

enum cudaError_t { cudaSuccess, cudaErrorInvalidValue, cudaErrorMemoryAllocation };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };

inline const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaSuccess             ? "no error"
         : status == cudaErrorInvalidValue ? "invalid argument"
                                           : "out of memory";
}
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

template <typename... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute, int bytes) try {
  reduction::emulated::allow_dynamic_shared_memory(reinterpret_cast<const void*>(kernel),
                                                   static_cast<size_t>(bytes));
  return cudaSuccess;
} catch (const std::invalid_argument&) {
  return cudaErrorInvalidValue;
}

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

template <typename T> cudaError_t cudaMalloc(T** pointer, size_t bytes) try {
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
  if (pointer != nullptr && !is_on_device(pointer, 0)) return cudaErrorInvalidValue;
  reduction::emulated::release(pointer);
  return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
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
  if (is_on_device(from, bytes) != (kind == cudaMemcpyDeviceToDevice)) return cudaErrorInvalidValue;
  std::memcpy(reinterpret_cast<std::byte*>(&symbol) + offset, from, bytes);
  return cudaSuccess;
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  if (offset > sizeof(T) || bytes > sizeof(T) - offset) return cudaErrorInvalidValue;
  if (is_on_device(to, bytes) != (kind == cudaMemcpyDeviceToDevice)) return cudaErrorInvalidValue;
  std::memcpy(to, reinterpret_cast<const std::byte*>(&symbol) + offset, bytes);
  if (kind == cudaMemcpyDeviceToDevice) reduction::emulated::mark_initialised(to, bytes);
  return cudaSuccess;
}
