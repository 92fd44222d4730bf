#pragma once
/// \file
/// CUDA's runtime as far as blocks_to_fill_device and combine_nccl.cu need it, for a test without a GPU: the device says
/// what the test wants, and has always done what is queued.

#include <cstddef>

enum cudaError_t { cudaSuccess, cudaErrorNoKernelImageForDevice, cudaErrorNotReady };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };

namespace stand_in {
inline int multiprocessors = 0;
inline int blocks_per_multiprocessor = 0;
}  // namespace stand_in

inline const char* cudaGetErrorString(cudaError_t) { return ""; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaStreamQuery(std::nullptr_t) { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = stand_in::multiprocessors;
  return cudaSuccess;
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, unsigned long) {
  *blocks = stand_in::blocks_per_multiprocessor;
  return cudaSuccess;
}
