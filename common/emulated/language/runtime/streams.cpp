#include "emulated/language/runtime/streams.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "emulated/language/runtime/capture.hpp"
#include "emulated/language/runtime/device.hpp"
#include "emulated/memory/lasting.hpp"
#include "emulated/order/host_order.hpp"
#include "emulated/run/launch.hpp"

std::uintptr_t __emulated::next_number() {
  static std::atomic<std::uintptr_t> last = 2;
  return ++last;
}

namespace {

/// What streams were made with.
struct MadeStream {
  unsigned flags = cudaStreamDefault;
  int priority = 0;
};
std::mutex made_streams_mutex;
std::map<cudaStream_t, MadeStream> made_streams;

MadeStream made(cudaStream_t stream) {
  const std::lock_guard lock{made_streams_mutex};
  return made_streams[stream];
}

/// Streams and events. The mutex needs no destructor.
std::mutex destroyed_mutex;
std::set<std::uintptr_t>& destroyed() { return __emulated::lasting<std::set<std::uintptr_t>>(); }

}  // namespace

bool __emulated::is_destroyed(std::uintptr_t number) {
  const std::lock_guard lock{destroyed_mutex};
  return destroyed().contains(number);
}
void __emulated::note_destroyed(std::uintptr_t number) {
  const std::lock_guard lock{destroyed_mutex};
  destroyed().insert(number);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const cudaError_t status = cudaStreamCreateWithFlags(stream, flags);
  const std::lock_guard lock{made_streams_mutex};
  made_streams[*stream].priority = std::clamp(priority, -5, 0);
  return status;
}
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = made(stream).priority;
  return cudaSuccess;
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  *flags = made(stream).flags;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const cudaError_t status = __emulated::number_next(stream);
  __emulated::host_order().make_stream(*stream, flags != cudaStreamNonBlocking);
  const std::lock_guard lock{made_streams_mutex};
  made_streams[*stream].flags = flags;
  return status;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  constexpr cudaError_t unsupported = cudaErrorStreamCaptureUnsupported;
  if (const cudaError_t error = __emulated::error_while_captured(unsupported, &stream)) return error;
  __emulated::host_order().host_waits_for_stream(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (__emulated::captured_wait(stream, event)) return cudaSuccess;
  __emulated::host_order().wait(stream, event);
  return __emulated::error_unless_made(event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (__emulated::captured_record(event, stream)) return cudaSuccess;
  __emulated::host_order().record(event, stream);
  return __emulated::error_unless_made(event);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  __emulated::host_order().host_waits_for_event(event);
  return __emulated::error_unless_made(event);
}
cudaError_t cudaDeviceSynchronize() {
  constexpr cudaError_t unsupported = cudaErrorStreamCaptureUnsupported;
  if (const cudaError_t error = __emulated::error_while_captured(unsupported)) return error;
  __emulated::host_order().host_waits();
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  const auto call_later = [=](cudaStream_t in) { return cudaLaunchHostFunc(in, function, data); };
  if (const auto kept = __emulated::captured(stream, cudaGraphNodeTypeHost, call_later)) return *kept;
  __emulated::host_order().call_behind(stream, [=] { function(data); });
  return cudaSuccess;
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned) {
  constexpr cudaError_t unsupported = cudaErrorStreamCaptureUnsupported;
  if (const cudaError_t error = __emulated::error_while_captured(unsupported, &stream)) return error;
  __emulated::host_order().call_behind(stream, [=] { function(stream, cudaSuccess, data); });
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  for (const cudaEvent_t event : {begin, end}) {
    const std::optional<bool> has_come = __emulated::host_order().has_come(event);
    if (!has_come) return __emulated::noted(cudaErrorInvalidResourceHandle);
    if (!*has_come) return __emulated::noted(cudaErrorNotReady);
  }
  *milliseconds = std::numeric_limits<float>::quiet_NaN();
  static std::once_flag said;
  std::call_once(said, [] {
    if (__emulated::LaunchListener* const listener = __emulated::launch_listener())
      return listener->asked_for_time("cudaEventElapsedTime gave NaN");
    const std::string note = std::string{program_invocation_short_name} +
                             ": note: cudaEventElapsedTime: the emulated device has no time: count with its "
                             "counters instead\n";
    std::fputs(note.c_str(), stderr);
  });
  return cudaSuccess;
}
