#include "emulated/language/runtime/kernels.hpp"

#include <stdexcept>

#include "emulated/run/device.hpp"
#include "emulated/run/launch.hpp"

cudaError_t cudaFuncSetAttribute(__emulated::NamedKernel kernel, cudaFuncAttribute attribute, int value) try {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
    __emulated::allow_dynamic_shared_memory(kernel.entry, static_cast<size_t>(value));
  return cudaSuccess;  // the other one is advice
} catch (const std::invalid_argument&) {
  return __emulated::noted(cudaErrorInvalidValue);
}

/// A program that has been told of the refusal goes on.
bool __emulated::fits_at_once(const ExecutionConfiguration& configuration) {
  const auto threads = static_cast<unsigned>(count(configuration.block));
  return count(configuration.grid) <= resident_blocks(threads, configuration.shared_bytes);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, __emulated::NamedKernel) {
  *attributes = {};
  attributes->maxThreadsPerBlock = static_cast<int>(__emulated::properties().threads_per_block);
  attributes->ptxVersion = attributes->binaryVersion = 80;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, __emulated::NamedKernel, int threads,
                                                          size_t dynamic_shared_bytes) try {
  if (threads <= 0) return __emulated::noted(cudaErrorInvalidValue);
  const size_t resident = __emulated::resident_blocks(static_cast<unsigned>(threads), dynamic_shared_bytes);
  *blocks = static_cast<int>(resident / __emulated::properties().sms);
  return cudaSuccess;
} catch (const std::invalid_argument&) {
  return __emulated::noted(cudaErrorInvalidValue);
}
