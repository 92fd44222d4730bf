#pragma once
/// \file
/// CUDA's runtime: the host's way to `__device__` and `__constant__` variables.

#include <cstddef>
#include <mutex>
#include <type_traits>

#include "emulated/language/runtime/memory.hpp"

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
