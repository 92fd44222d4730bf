#include "emulated/language/runtime/kernels.hpp"

#include <algorithm>
#include <map>
#include <mutex>
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

cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block,
                                                           __emulated::NamedKernel kernel,
                                                           const std::function<size_t(int)>& shared_bytes,
                                                           int most_threads) {
  const __emulated::Properties& device = __emulated::properties();
  const int most = static_cast<int>(device.threads_per_block);
  *grid = *block = 0;
  int most_resident = 0;
  for (int threads = most_threads == 0 ? most : std::min(most_threads, most); threads > 0;
       threads = (threads - 1) / warpSize * warpSize) {
    int blocks = 0;
    const cudaError_t error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes(threads));
    if (error != cudaSuccess) return error;
    if (blocks * threads <= most_resident) continue;
    most_resident = blocks * threads;
    *grid = blocks * static_cast<int>(device.sms);
    *block = threads;
  }
  return cudaSuccess;
}

namespace {

std::mutex known_kernels_mutex;
std::map<const void*, __emulated::LaunchByPointers> known_kernels;

}  // namespace

void* __emulated::know_kernel(const void* kernel, LaunchByPointers launch) {
  const std::lock_guard lock{known_kernels_mutex};
  known_kernels[kernel] = launch;
  return const_cast<void*>(kernel);
}

cudaError_t __emulated::launch_known(const ExecutionConfiguration& configuration, const void* kernel,
                                     void** arguments) {
  std::unique_lock lock{known_kernels_mutex};
  const auto known = known_kernels.find(kernel);
  if (known == known_kernels.end()) return noted(cudaErrorInvalidDeviceFunction);
  const LaunchByPointers launch = known->second;
  lock.unlock();
  return launch(configuration, kernel, arguments);
}

cudaError_t __emulated::read(const cudaLaunchConfig_t& config, ExecutionConfiguration& configuration) {
  configuration = {config.gridDim, config.blockDim, config.dynamicSmemBytes, config.stream};
  for (const cudaLaunchAttribute& attribute : std::span{config.attrs, config.numAttrs}) {
    if (attribute.id == cudaLaunchAttributeClusterDimension) return noted(cudaErrorNotSupported);
    if (attribute.id == cudaLaunchAttributeCooperative)
      configuration.is_cooperative = attribute.val.cooperative != 0;
  }
  return cudaSuccess;
}
