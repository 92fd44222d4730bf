#include "harness/cuda_timer.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>

#include "device/cuda_check.cuh"
#include "harness/grid_stride.cuh"

namespace reduction {

namespace {

/// Reads the whole buffer; writes only if a word has a value that no word has.
__global__ void read_kernel(unsigned* data, std::size_t words) {
  unsigned seen = 0;
  for (std::size_t k = grid_stride_start(); k < words; k += grid_stride_step())
    seen |= data[k];
  if (seen != 0) data[0] = seen;
}

/// What host and device tell each other about a held sample, by the samples' numbers, from 1 on.
struct Hold {
  unsigned queued;    ///< the last one that the host has queued as a whole
  unsigned given_up;  ///< the last one that the device did not wait for
};

/// Holds the device until the host has queued a whole sample behind it and says so, so that the host's launch latency
/// is not in the sample. Where the host itself waits for each launch, it would wait forever; hence the limit.
__global__ void hold_kernel(volatile Hold* hold, unsigned sample) {
  constexpr std::uint64_t limit_nanoseconds = 500'000'000;
  const auto now = [] {
    std::uint64_t time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
  };
  const std::uint64_t start = now();
  while (hold->queued != sample) {
    if (now() - start < limit_nanoseconds) continue;
    hold->given_up = sample;
    return;
  }
}

/// Does nothing, before a sample.
__global__ void lead_in_kernel() {}

/// A Hold in host memory that the device reads and writes.
class SharedHold {
 public:
  SharedHold() {
    cuda_check(cudaHostAlloc(&on_host_, sizeof(Hold), cudaHostAllocMapped), "allocating pinned memory");
    *on_host_ = {};
    cuda_check(cudaHostGetDevicePointer(&on_device_, on_host_, 0), "mapping pinned memory");
  }
  ~SharedHold() { cudaFreeHost(on_host_); }
  SharedHold(const SharedHold&) = delete;
  SharedHold& operator=(const SharedHold&) = delete;

  volatile Hold& on_host() { return *on_host_; }
  volatile Hold* on_device() { return on_device_; }

 private:
  Hold* on_host_ = nullptr;
  Hold* on_device_ = nullptr;
};

/// A CUDA event, destroyed with its owner.
class Event {
 public:
  Event() { cuda_check(cudaEventCreate(&event_), "creating an event"); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record() { cuda_check(cudaEventRecord(event_), "recording an event"); }
  void wait() { cuda_check(cudaEventSynchronize(event_), "waiting for the kernels"); }

  /// Returns the device time in ms that has passed since `earlier`, which was recorded before.
  double ms_since(const Event& earlier) const {
    float ms = 0;
    cuda_check(cudaEventElapsedTime(&ms, earlier.event_, event_), "reading the elapsed time");
    return static_cast<double>(ms);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class CudaTimer final : public SampleTimer {
 public:
  CudaTimer(Device& device, const TimingMethod& method)
      : method_(method), flush_bytes_(device.own_bytes()), flush_(device, flush_bytes_) {
    cuda_check(cudaMemset(flush_.data(), 0, flush_bytes_), "preparing the L2 flush");
  }

  void empty_l2() override {
    const std::size_t words = flush_bytes_ / sizeof(unsigned);
    switch (method_.flush) {
      case Flush::read:
        read_kernel<<<helper_grid(words), helper_block>>>(static_cast<unsigned*>(flush_.data()), words);
        cuda_check(cudaGetLastError(), "emptying the L2");
        break;
      case Flush::memset:
        cuda_check(cudaMemsetAsync(flush_.data(), 0, flush_bytes_), "emptying the L2");
        break;
      case Flush::none: break;
    }
  }

  void start(const std::function<void()>& before) override {
    ++sample_;
    empty_l2();
    if (method_.queued) {
      hold_kernel<<<1, 1>>>(hold_.on_device(), sample_);
      cuda_check(cudaGetLastError(), "holding the device");
    } else {
      cuda_check(cudaDeviceSynchronize(), "emptying the L2");
    }
    for (unsigned k = 0; k < method_.lead_in; ++k)
      lead_in_kernel<<<1, 1>>>();
    cuda_check(cudaGetLastError(), "leading in");
    if (before) before();
    start_.record();
  }

  double stop(const std::function<void()>& wait) override {
    stop_.record();
    hold_.on_host().queued = sample_;
    if (wait) wait();
    stop_.wait();
    if (hold_.on_host().given_up == sample_) throw SampleNotQueued{};
    return stop_.ms_since(start_);
  }

 private:
  TimingMethod method_;
  std::size_t flush_bytes_;
  DeviceBuffer flush_;
  SharedHold hold_;
  Event start_;
  Event stop_;
  unsigned sample_ = 0;
};

}  // namespace

std::unique_ptr<SampleTimer> make_cuda_timer(Device& device, const TimingMethod& method) {
  return std::make_unique<CudaTimer>(device, method);
}

}  // namespace reduction
