#pragma once
/// \file
/// CUDA's runtime: what a call returns.

/// \cond
#define __EMULATED_ERRORS(X)                                                                          \
  X(cudaSuccess, 0, "no error")                                                                       \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                                     \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                                    \
  X(cudaErrorInitializationError, 3, "initialization error")                                          \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                               \
  X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                         \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                              \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                      \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                         \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")  \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                    \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                     \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                            \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                   \
  X(cudaErrorNotReady, 600, "device not ready")                                                       \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                         \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                    \
  X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                         \
  X(cudaErrorAssert, 710, "device-side assert triggered")                                             \
  X(cudaErrorHostMemoryAlreadyRegistered, 712,                                                        \
    "part or all of the requested memory range is already mapped")                                    \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                            \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                        \
  X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                 \
  X(cudaErrorNotSupported, 801, "operation not supported")                                            \
  X(cudaErrorUnknown, 999, "unknown error")
#define __EMULATED_ERROR(name, number, text) name = number,
enum cudaError { __EMULATED_ERRORS(__EMULATED_ERROR) };
#undef __EMULATED_ERROR
/// \endcond
using cudaError_t = cudaError;

const char* cudaGetErrorString(cudaError_t status);
const char* cudaGetErrorName(cudaError_t status);

namespace __emulated {

/// Keeps an error as the host thread's last one, and returns it. (A launch has none: it throws.)
cudaError_t noted(cudaError_t status);
inline cudaError_t error_unless(bool is_valid, cudaError_t error = cudaErrorInvalidValue) {
  return noted(is_valid ? cudaSuccess : error);
}

}  // namespace __emulated

/// The last call's error that the host thread has not asked for.
cudaError_t cudaPeekAtLastError();
cudaError_t cudaGetLastError();
