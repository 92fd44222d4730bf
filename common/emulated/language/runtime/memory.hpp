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
                          cudaHostRegisterMapped = 2, cudaHostRegisterIoMemory = 4,
                          cudaHostRegisterReadOnly = 8;
inline constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4;

namespace __emulated {

/// Who may use a buffer: the device alone; host and device; both, in the host's memory, or where the program had it already.
enum class Allocation { device, managed, pinned, registered };

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
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, size_t bytes, unsigned = cudaMemAttachGlobal) {
  return __emulated::allocate_as(__emulated::Allocation::managed, pointer, bytes);
}
cudaError_t cudaFree(void* pointer);

/// Of the host: kernels may use it, too, by the same pointer.
template <typename T> cudaError_t cudaHostAlloc(T** pointer, size_t bytes, unsigned) {
  return __emulated::allocate_as(__emulated::Allocation::pinned, pointer, bytes);
}
template <typename T>
cudaError_t cudaMallocHost(T** pointer, size_t bytes, unsigned flags = cudaHostAllocDefault) {
  return cudaHostAlloc(pointer, bytes, flags);
}
cudaError_t cudaFreeHost(void* pointer);
/// From now on memory of the program's own is as if cudaMallocHost() had given it.
cudaError_t cudaHostRegister(void* begin, size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* begin);
template <typename T> cudaError_t cudaHostGetDevicePointer(T** on_device, void* on_host, unsigned) {
  *on_device = static_cast<T*>(on_host);
  return __emulated::error_unless_shared(on_host, 1);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* begin, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void* begin, int value, size_t bytes, cudaStream_t stream = nullptr);

enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);

// ---- rows and volumes ----

/// Rows of `xsize` bytes, each `pitch` bytes after the one before; a volume has `ysize` of them in a layer.
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
inline cudaPitchedPtr make_cudaPitchedPtr(void* begin, size_t pitch, size_t width, size_t height) {
  return {begin, pitch, width, height};
}
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  return {width, height, depth};
}
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }

struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};

template <typename T> cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  constexpr size_t alignment = 512;
  *pitch = (width + alignment - 1) / alignment * alignment;
  return cudaMalloc(pointer, *pitch * height);
}
inline cudaError_t cudaMalloc3D(cudaPitchedPtr* volume, cudaExtent extent) {
  *volume = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&volume->ptr, &volume->pitch, extent.width, extent.height * extent.depth);
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* copy);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* copy, cudaStream_t stream = nullptr);
cudaError_t cudaMemset3D(cudaPitchedPtr volume, int value, cudaExtent extent);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr volume, int value, cudaExtent extent,
                              cudaStream_t stream = nullptr);

namespace __emulated {

inline cudaMemcpy3DParms copy_of_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                      size_t width, size_t height, cudaMemcpyKind kind) {
  return {nullptr,
          {},
          {const_cast<void*>(from), from_pitch, width, height},
          nullptr,
          {},
          {to, to_pitch, width, height},
          {width, height, 1},
          kind};
}

}  // namespace __emulated

inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  const auto copy = __emulated::copy_of_rows(to, to_pitch, from, from_pitch, width, height, kind);
  return cudaMemcpy3D(&copy);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr) {
  const auto copy = __emulated::copy_of_rows(to, to_pitch, from, from_pitch, width, height, kind);
  return cudaMemcpy3DAsync(&copy, stream);
}
inline cudaError_t cudaMemset2D(void* begin, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset3D({begin, pitch, width, height}, value, {width, height, 1});
}
inline cudaError_t cudaMemset2DAsync(void* begin, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream = nullptr) {
  return cudaMemset3DAsync({begin, pitch, width, height}, value, {width, height, 1}, stream);
}

// ---- between devices, of which there is one ----

inline cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (to_device != 0 || from_device != 0) return __emulated::noted(cudaErrorInvalidDevice);
  return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                       size_t bytes, cudaStream_t stream = nullptr) {
  if (to_device != 0 || from_device != 0) return __emulated::noted(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

// ---- advice for managed memory ----

enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy
};
enum cudaMemLocationType {
  cudaMemLocationTypeInvalid,
  cudaMemLocationTypeDevice,
  cudaMemLocationTypeHost,
  cudaMemLocationTypeHostNuma,
  cudaMemLocationTypeHostNumaCurrent
};
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
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
  std::byte* begin = nullptr;
  if (cudaError_t error = __emulated::address_in(symbol, offset, bytes, &begin)) return error;
  return cudaMemcpyAsync(begin, from, bytes, kind, stream);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, T& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
  std::byte* begin = nullptr;
  if (cudaError_t error = __emulated::address_in(symbol, offset, bytes, &begin)) return error;
  return cudaMemcpyAsync(to, begin, bytes, kind, stream);
}
