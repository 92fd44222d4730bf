#pragma once
/// \file
/// CUDA's runtime: memory that is taken and released in the order of a stream. A pool gives it, keeps what it is told of itself,
/// and no memory.

#include <array>
#include <cstdint>

#include "emulated/language/runtime/device.hpp"
#include "emulated/language/runtime/memory.hpp"

enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic,
  cudaMemPoolReuseAllowInternalDependencies,
  cudaMemPoolAttrReleaseThreshold,
  cudaMemPoolAttrReservedMemCurrent,
  cudaMemPoolAttrReservedMemHigh,
  cudaMemPoolAttrUsedMemCurrent,
  cudaMemPoolAttrUsedMemHigh
};
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned };
enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1,
  cudaMemHandleTypeWin32 = 2
};
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void* win32SecurityAttributes;
  size_t maxSize;
  unsigned char reserved[56];
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};

struct CUmemPoolHandle_st {
  std::array<std::uint64_t, cudaMemPoolAttrUsedMemHigh + 1> attributes{};
};
namespace __emulated {

inline CUmemPoolHandle_st default_pool;

}  // namespace __emulated

inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  *pool = &__emulated::default_pool;
  return __emulated::error_unless(device == 0, cudaErrorInvalidDevice);
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
inline cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return __emulated::error_unless(device == 0 && pool != nullptr);
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
/// Of 4 bytes are those of reuse, of 8 all others.
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
inline cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) {
  return cudaSuccess;
}
template <typename T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t, cudaStream_t) {
  return __emulated::allocate_as(__emulated::Allocation::device, pointer, bytes);
}
template <typename T> cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaMemPool_t, cudaStream_t) {
  return __emulated::allocate_as(__emulated::Allocation::device, pointer, bytes);
}
template <typename T> cudaError_t cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t) {
  return __emulated::allocate_as(__emulated::Allocation::device, pointer, bytes);
}
/// The host does not wait for what uses it.
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
