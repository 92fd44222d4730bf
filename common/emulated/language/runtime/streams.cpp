#include "emulated/language/runtime/streams.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <mutex>
#include <string>

#include "emulated/language/runtime/device.hpp"
#include "emulated/order/host_order.hpp"
#include "emulated/run/launch.hpp"

std::uintptr_t __emulated::next_number() {
  static std::atomic<std::uintptr_t> last = 0;
  return ++last;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const cudaError_t status = __emulated::number_next(stream);
  __emulated::host_order().make_stream(*stream, flags != cudaStreamNonBlocking);
  return status;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  __emulated::host_order().host_waits_for_stream(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  __emulated::host_order().wait(stream, event);
  return __emulated::error_unless_made(event);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  __emulated::host_order().record(event, stream);
  return __emulated::error_unless_made(event);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  __emulated::host_order().host_waits_for_event(event);
  return __emulated::error_unless_made(event);
}
cudaError_t cudaDeviceSynchronize() {
  __emulated::host_order().host_waits();
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t end) {
  __emulated::host_order().host_waits_for_event(end);
  *milliseconds = std::numeric_limits<float>::quiet_NaN();
  static std::once_flag said;
  std::call_once(said, [] {
    if (__emulated::LaunchListener* const listener = __emulated::launch_listener())
      return listener->asked_for_time();
    const std::string note = std::string{program_invocation_short_name} +
                             ": note: cudaEventElapsedTime: the emulated device has no time: count with its "
                             "counters instead\n";
    std::fputs(note.c_str(), stderr);
  });
  return cudaSuccess;
}
