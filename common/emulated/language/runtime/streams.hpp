#pragma once
/// \file
/// CUDA's runtime: streams and events. All that a stream would leave for later is done at once, and what the host has not waited
/// for is remembered (order/host_order.hpp).

#include <cstdint>

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/errors.hpp"

#define CUDART_CB  // how callbacks are called, which Windows asks for

using cudaEvent_t = struct CUevent_st*;
using cudaHostFn_t = void (*)(void* data);
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* data);

inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
                          cudaEventInterprocess = 4, cudaEventRecordDefault = 0, cudaEventRecordExternal = 1,
                          cudaEventWaitDefault = 0, cudaEventWaitExternal = 1;
inline const cudaStream_t cudaStreamLegacy = nullptr, cudaStreamPerThread = reinterpret_cast<cudaStream_t>(2);

namespace __emulated {

/// A stream or an event is a number beyond those of CUDA's own streams, as nothing waits in it.
std::uintptr_t next_number();
template <typename Handle> cudaError_t number_next(Handle* handle) {
  *handle = reinterpret_cast<Handle>(next_number());
  return cudaSuccess;
}
/// Whether a stream or an event was made, and is there no more; and how it comes to that.
bool is_destroyed(std::uintptr_t number);
void note_destroyed(std::uintptr_t number);
template <typename Handle> cudaError_t error_if_destroyed(Handle handle) {
  const bool is_there = !is_destroyed(reinterpret_cast<std::uintptr_t>(handle));
  return error_unless(is_there, cudaErrorInvalidResourceHandle);
}
template <typename Handle> cudaError_t error_unless_made(Handle handle) {
  return handle == nullptr ? noted(cudaErrorInvalidResourceHandle) : error_if_destroyed(handle);
}
template <typename Handle> cudaError_t destroy(Handle handle) {
  const cudaError_t status = error_unless_made(handle);
  if (status == cudaSuccess) note_destroyed(reinterpret_cast<std::uintptr_t>(handle));
  return status;
}

}  // namespace __emulated

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
/// Who goes first says nothing here: the priority is kept.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) { return __emulated::destroy(stream); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
inline cudaError_t cudaStreamQuery(cudaStream_t stream) { return cudaStreamSynchronize(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data,
                                  unsigned flags);

inline cudaError_t cudaEventCreate(cudaEvent_t* event) { return __emulated::number_next(event); }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return __emulated::number_next(event);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) { return __emulated::destroy(event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr, unsigned = 0) {
  return cudaEventRecord(event, stream);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event);
inline cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

/// How long a CPU takes says nothing of a GPU: the time is no number, and one line on stderr says why. It is no error:
/// programs end at one.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end);
