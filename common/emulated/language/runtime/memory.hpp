#pragma once
/// \file
/// CUDA's runtime: memory, and copies between host and device. Where `./emulate` has not closed it (memory/closed_memory.hpp),
/// the host may use the device's memory, too.

#include <cstddef>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/errors.hpp"

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                          cudaHostAllocWriteCombined = 4;
inline constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1,
                          cudaHostRegisterMapped = 2;
inline constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4;

namespace __emulated {

/// Who may use a buffer: the device alone; host and device; both, in the host's memory.
enum class Allocation { device, managed, pinned };

cudaError_t allocate_as(Allocation kind, void** pointer, std::size_t bytes);
template <typename T> cudaError_t allocate_as(Allocation kind, T** pointer, std::size_t bytes) {
  void* begin = nullptr;
  const cudaError_t status = allocate_as(kind, &begin, bytes);
  *pointer = static_cast<T*>(begin);
  return status;
}

/// An error unless host and device may use these bytes.
cudaError_t error_unless_shared(const void* begin, std::size_t bytes);

}  // namespace __emulated

template <typename T> cudaError_t cudaMalloc(T** pointer, size_t bytes) {
  return __emulated::allocate_as(__emulated::Allocation::device, pointer, bytes);
}
template <typename T> cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned = cudaMemAttachGlobal) {
  return __emulated::allocate_as(__emulated::Allocation::managed, pointer, bytes);
}
cudaError_t cudaFree(void* pointer);
inline cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }

/// Of the host: kernels may use it, too, by the same pointer.
template <typename T> cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned) {
  return __emulated::allocate_as(__emulated::Allocation::pinned, pointer, bytes);
}
template <typename T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned flags = cudaHostAllocDefault) {
  return cudaHostAlloc(pointer, bytes, flags);
}
cudaError_t cudaFreeHost(void* pointer);
template <typename T> cudaError_t cudaHostGetDevicePointer(T** on_device, void* on_host, unsigned) {
  *on_device = static_cast<T*>(on_host);
  return __emulated::error_unless_shared(on_host, 1);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* begin, int value, size_t bytes);
inline cudaError_t cudaMemsetAsync(void* begin, int value, size_t bytes, cudaStream_t = nullptr) {
  return cudaMemset(begin, value, bytes);
}

/// Rows of `width` bytes, each `pitch` bytes after the one before.
template <typename T> cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  constexpr size_t alignment = 512;
  *pitch = (width + alignment - 1) / alignment * alignment;
  return cudaMalloc(pointer, *pitch * height);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* begin, size_t pitch, int value, size_t width, size_t height);

// ---- advice for managed memory ----

enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy
};
enum cudaMemLocationType { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost };
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};

/// Where it ought to be has another type in newer versions of CUDA.
template <typename... Where>
cudaError_t cudaMemPrefetchAsync(const void* begin, size_t bytes, const Where&...) {
  return __emulated::error_unless_shared(begin, bytes);
}
template <typename... Where>
cudaError_t cudaMemAdvise(const void* begin, size_t bytes, cudaMemoryAdvise, const Where&...) {
  return __emulated::error_unless_shared(begin, bytes);
}
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void* begin, size_t = 0,
                                            unsigned = cudaMemAttachSingle) {
  return __emulated::error_unless_shared(begin, 1);
}

// ---- __device__ and __constant__ variables ----

namespace __emulated {

/// Whether it is a `__managed__` variable, which host and device share.
bool is_managed(const void* variable);

/// From now on copies know this variable.
void know_variable(const void* begin, std::size_t bytes);

}  // namespace __emulated

template <typename T> cudaError_t cudaGetSymbolAddress(void** pointer, T& symbol) {
  const void* const on_host = const_cast<std::remove_cv_t<T>*>(&symbol);
  const void* const on_device = __emulated::on_device(on_host);
  *pointer = nullptr;
#ifdef __EMULATED_HOST_PASS
  if (on_device == on_host && !__emulated::is_managed(on_host))
    return __emulated::noted(cudaErrorInvalidSymbol);
#endif
  *pointer = const_cast<void*>(on_device);
  __emulated::know_variable(*pointer, sizeof(T));
  return cudaSuccess;
}
template <typename T> cudaError_t cudaGetSymbolSize(size_t* bytes, T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}

namespace __emulated {

template <typename T> cudaError_t address_in(T& symbol, size_t offset, size_t bytes, std::byte** address) {
  void* begin = nullptr;
  if (cudaError_t error = cudaGetSymbolAddress(&begin, symbol)) return error;
  *address = static_cast<std::byte*>(begin) + offset;
  return error_unless(offset <= sizeof(T) && bytes <= sizeof(T) - offset);
}

}  // namespace __emulated

/// To and from such a variable, `offset` bytes after its beginning.
template <typename T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  std::byte* begin = nullptr;
  if (cudaError_t error = __emulated::address_in(symbol, offset, bytes, &begin)) return error;
  return cudaMemcpy(begin, from, bytes, kind);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* to, T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  std::byte* begin = nullptr;
  if (cudaError_t error = __emulated::address_in(symbol, offset, bytes, &begin)) return error;
  return cudaMemcpy(to, begin, bytes, kind);
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  std::byte* begin = nullptr;
  if (cudaError_t error = __emulated::address_in(symbol, offset, bytes, &begin)) return error;
  return cudaMemcpyAsync(begin, from, bytes, kind, stream);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, T& symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream = nullptr) {
  std::byte* begin = nullptr;
  if (cudaError_t error = __emulated::address_in(symbol, offset, bytes, &begin)) return error;
  return cudaMemcpyAsync(to, begin, bytes, kind, stream);
}
