#pragma once
/// \file
/// CUDA's runtime: memory, and copies between host and device. One thing is more lenient than a GPU: the host may use the
/// device's pointers.

#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <new>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/errors.hpp"
#include "emulated/memory/memory.hpp"
#include "emulated/run/device.hpp"

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

/// Advice for managed memory, which newer versions of CUDA give with other parameters.
template <typename... Where>
cudaError_t cudaMemPrefetchAsync(const void* begin, size_t bytes, const Where&...) {
  const __emulated::Sides sides = __emulated::sides_of(begin, bytes);
  return __emulated::error_unless(sides.host && sides.device);
}
