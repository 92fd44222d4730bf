/// \file
/// The linker's --wrap puts this in front of CUDA: if the variable FAULT says `apart`, GPUs do not reach each other's memory.

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <string_view>

extern "C" {

decltype(cudaIpcOpenMemHandle) __real_cudaIpcOpenMemHandle;
decltype(cudaIpcOpenMemHandle) __wrap_cudaIpcOpenMemHandle;

cudaError_t __wrap_cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned flags) {
  const char* const fault = std::getenv("FAULT");
  if (fault != nullptr && std::string_view(fault) == "apart") return cudaErrorPeerAccessUnsupported;
  return __real_cudaIpcOpenMemHandle(memory, handle, flags);
}

}  // extern "C"
