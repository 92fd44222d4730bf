#include "emulated/language/runtime/kernels.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated/memory/lasting.hpp"
#include "emulated/memory/symbol_table.hpp"
#include "emulated/run/device.hpp"
#include "emulated/run/launch.hpp"

cudaError_t cudaFuncSetAttribute(__emulated::NamedKernel kernel, cudaFuncAttribute attribute, int value) try {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
    __emulated::allow_dynamic_shared_memory(kernel.entry, static_cast<size_t>(value));
  return cudaSuccess;  // the other one is advice
} catch (const std::invalid_argument&) {
  return __emulated::noted(cudaErrorInvalidValue);
}

namespace {

/// What a kernel's own body says, but for functions that it calls.
struct Declared {
  std::size_t most_threads = __emulated::properties().threads_per_block;
  std::size_t static_shared_bytes = 0;
};
using DeclaredByKernels = std::map<std::string, Declared, std::less<>>;

/// "k(int)" of "void k(int)", as the names of what it declares begin.
std::string without_result(std::string kernel) {
  return kernel.starts_with("void ") ? kernel.substr(5) : kernel;
}

/// The program's symbols have it: each variable, and each bound, is of a type within its kernel (cuda.hpp).
DeclaredByKernels read_declared() {
  DeclaredByKernels all;
  std::set<std::string> seen;  // the host's part has them, too
  for (const __emulated::Symbol& symbol : __emulated::symbols_of_the_program()) {
    const std::string mangled{symbol.common_name()};
    const bool is_variable =
        mangled.starts_with("_ZN10__emulated8DeclaredI") && mangled.ends_with("11declarationE");
    const bool is_bound = mangled.starts_with("_ZN10__emulated12LaunchBoundsI");
    if ((!is_variable && !is_bound) || !seen.insert(mangled).second) continue;
    const std::string name = __emulated::demangled(mangled.c_str());
    const std::size_t begin = name.find('<') + 1;
    const std::size_t end = std::min(name.find("::{lambda"), name.find("::'lambda"));
    if (end == std::string::npos) continue;
    Declared& declared = all[without_result(name.substr(begin, end - begin))];
    const void* const address =
        reinterpret_cast<const void*>(__emulated::begin_of_the_program() + symbol.value);
    if (is_bound) {
      declared.most_threads = static_cast<const __emulated::Bounds*>(address)->most_threads;
    } else {
      const auto& variable = *static_cast<const __emulated::SharedDeclaration*>(address);
      declared.static_shared_bytes += std::accumulate(variable.extents.begin(), variable.extents.end(),
                                                      variable.element_bytes, std::multiplies<>{});
    }
  }
  return all;
}

Declared declared_by(const void* kernel) {
  const DeclaredByKernels& all = __emulated::lasting<read_declared>();
  const std::uintptr_t value = reinterpret_cast<std::uintptr_t>(kernel) - __emulated::begin_of_the_program();
  for (const __emulated::Symbol& symbol : __emulated::symbols_of_the_program()) {
    if (symbol.value != value || symbol.is_variable) continue;
    const std::string name{symbol.common_name()};
    const auto found = all.find(without_result(__emulated::demangled(name.c_str())));
    if (found != all.end()) return found->second;
  }
  return {};
}

}  // namespace

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, __emulated::NamedKernel kernel) {
  const Declared declared = declared_by(kernel.entry);
  *attributes = {};
  attributes->maxThreadsPerBlock = static_cast<int>(declared.most_threads);
  attributes->sharedSizeBytes = declared.static_shared_bytes;
  attributes->maxDynamicSharedSizeBytes =
      static_cast<int>(__emulated::properties().default_shared_bytes - declared.static_shared_bytes);
  attributes->ptxVersion = attributes->binaryVersion = 80;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, __emulated::NamedKernel kernel,
                                                          int threads, size_t dynamic_shared_bytes) try {
  if (threads <= 0) return __emulated::noted(cudaErrorInvalidValue);
  const Declared declared = declared_by(kernel.entry);
  const auto block = static_cast<unsigned>(threads);
  const size_t resident =
      block <= declared.most_threads
          ? __emulated::resident_blocks(block, dynamic_shared_bytes + declared.static_shared_bytes)
          : 0;
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
  const int most = static_cast<int>(declared_by(kernel.entry).most_threads);
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
