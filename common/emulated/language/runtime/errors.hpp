#pragma once
/// \file
/// CUDA's runtime: what a call returns.

#include <utility>

/// \cond
#define __EMULATED_ERRORS(X)                                                                          \
  X(cudaSuccess, 0, "no error")                                                                       \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                     \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                    \
  X(cudaErrorInitializationError, 3, "initialization error")                                          \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                               \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                              \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                      \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                         \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                     \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                            \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                   \
  X(cudaErrorNotReady, 600, "device not ready")                                                       \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                         \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                        \
  X(cudaErrorNotSupported, 801, "operation not supported")                                            \
  X(cudaErrorUnknown, 999, "unknown error")
#define __EMULATED_ERROR(name, number, text) name = number,
enum cudaError { __EMULATED_ERRORS(__EMULATED_ERROR) };
#undef __EMULATED_ERROR
/// \endcond
using cudaError_t = cudaError;

inline const char* cudaGetErrorString(cudaError_t status) {
#define __EMULATED_ERROR(name, number, text) \
  if (status == name) return text;
  __EMULATED_ERRORS(__EMULATED_ERROR)
#undef __EMULATED_ERROR
  return "unrecognized error code";
}
inline const char* cudaGetErrorName(cudaError_t status) {
#define __EMULATED_ERROR(name, number, text) \
  if (status == name) return #name;
  __EMULATED_ERRORS(__EMULATED_ERROR)
#undef __EMULATED_ERROR
  return "unrecognized error code";
}
#undef __EMULATED_ERRORS

namespace __emulated {

/// The last call's error that the host thread has not asked for. (A launch has none: it throws.)
inline thread_local cudaError_t last_error = cudaSuccess;

inline cudaError_t noted(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}
inline cudaError_t error_unless(bool is_valid, cudaError_t error = cudaErrorInvalidValue) {
  return noted(is_valid ? cudaSuccess : error);
}

}  // namespace __emulated

inline cudaError_t cudaPeekAtLastError() { return __emulated::last_error; }
inline cudaError_t cudaGetLastError() { return std::exchange(__emulated::last_error, cudaSuccess); }
