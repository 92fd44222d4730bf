#pragma once
/// \file
/// CUDA's runtime as far as blocks_to_fill_device needs it, for a test without a GPU: the device says what the test wants.

enum cudaError_t { cudaSuccess, cudaErrorNoKernelImageForDevice };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount };

namespace stand_in {
inline int multiprocessors = 0;
inline int blocks_per_multiprocessor = 0;
}  // namespace stand_in

inline const char* cudaGetErrorString(cudaError_t) { return ""; }
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
