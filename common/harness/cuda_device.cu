#include "harness/cuda_device.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "device/cuda_check.cuh"
#include "harness/units.hpp"

namespace reduction {

namespace {

constexpr unsigned helper_block = 256;

/// A grid-stride grid for the harness's own kernels: enough blocks for any device, never more than there is work.
unsigned helper_grid(std::size_t items) {
  const std::size_t blocks = (items + helper_block - 1) / helper_block;
  return static_cast<unsigned>(std::clamp<std::size_t>(blocks, 1, 16384));
}

__device__ std::size_t grid_stride_start() { return std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::size_t grid_stride_step() { return std::size_t{gridDim.x} * blockDim.x; }

template <typename Real>
__global__ void fill_kernel(Real* data, Input input, std::uint64_t parts, std::uint64_t first,
                            std::uint64_t count) {
  for (std::size_t k = grid_stride_start(); k < count * parts; k += grid_stride_step()) {
    data[k] = real_at<Real>(input, first + k / parts, k % parts, parts);
  }
}

/// Reads the whole buffer; writes only if a word has a value that no word has.
__global__ void read_kernel(unsigned* data, std::size_t words) {
  unsigned seen = 0;
  for (std::size_t k = grid_stride_start(); k < words; k += grid_stride_step())
    seen |= data[k];
  if (seen != 0) data[0] = seen;
}

/// Queues what `flush` says, with a buffer of at least twice the L2.
void flush_l2(Flush flush, void* buffer, std::size_t bytes) {
  const std::size_t words = bytes / sizeof(unsigned);
  switch (flush) {
    case Flush::read:
      read_kernel<<<helper_grid(words), helper_block>>>(static_cast<unsigned*>(buffer), words);
      cuda_check(cudaGetLastError(), "emptying the L2");
      break;
    case Flush::memset: cuda_check(cudaMemsetAsync(buffer, 0, bytes), "emptying the L2"); break;
    case Flush::none: break;
  }
}

/// Holds the device until the host has queued a whole sample behind it and says so, so that the host's launch latency is
/// not in the sample. Tools that let the host wait for each launch would wait forever; hence the limit.
__global__ void hold_kernel(const volatile unsigned* queued_sample, unsigned sample) {
  constexpr std::uint64_t limit_nanoseconds = 100'000'000;
  const auto now = [] {
    std::uint64_t time;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
    return time;
  };
  const std::uint64_t start = now();
  while (*queued_sample != sample && now() - start < limit_nanoseconds) {
  }
}

/// Does nothing, before a sample.
__global__ void lead_in_kernel() {}

/// A word of host memory that the device reads.
class HostWord {
 public:
  HostWord() {
    cuda_check(cudaHostAlloc(&host_, sizeof(unsigned), cudaHostAllocMapped), "allocating pinned memory");
    *host_ = 0;
    cuda_check(cudaHostGetDevicePointer(&device_, host_, 0), "mapping pinned memory");
  }
  ~HostWord() { cudaFreeHost(host_); }
  HostWord(const HostWord&) = delete;
  HostWord& operator=(const HostWord&) = delete;

  void set(unsigned value) { *static_cast<volatile unsigned*>(host_) = value; }
  const unsigned* on_device() const { return device_; }

 private:
  unsigned* host_ = nullptr;
  unsigned* device_ = nullptr;
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

  /// Device time in ms that passed since `earlier`, which was recorded before.
  double ms_since(const Event& earlier) const {
    float ms = 0;
    cuda_check(cudaEventElapsedTime(&ms, earlier.event_, event_), "reading the elapsed time");
    return static_cast<double>(ms);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

int attribute(cudaDeviceAttr name, int ordinal) {
  int value = 0;
  cuda_check(cudaDeviceGetAttribute(&value, name, ordinal), "asking for a device attribute");
  return value;
}

DeviceInfo describe(int ordinal) {
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, ordinal), "asking for the device's properties");
  DeviceInfo info;
  info.kind = DeviceKind::cuda;
  info.name = properties.name;
  info.compute_capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
  info.sms = static_cast<unsigned>(properties.multiProcessorCount);
  info.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
  // Two transfers a clock, eight bits a byte; the clock is in kHz.
  const double clock_khz = attribute(cudaDevAttrMemoryClockRate, ordinal);
  const double bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal);
  // An integrated GPU shares the host's memory, and these attributes do not describe that.
  const bool own_memory = attribute(cudaDevAttrIntegrated, ordinal) == 0;
  if (own_memory && clock_khz > 0 && bus_bits > 0) info.peak_gbps = clock_khz * 1e3 * bus_bits * 2 / 8 / 1e9;
  return info;
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) : info_(describe(ordinal)) {
    cuda_check(cudaSetDevice(ordinal), "choosing the device");
    cuda_check(cudaFree(nullptr), "starting the device");
  }

  const DeviceInfo& info() const override { return info_; }

  std::size_t available_bytes() const override {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the free memory");
    return free_bytes;
  }

  std::size_t timing_bytes() const override { return 2 * info_.l2_bytes; }

  void* allocate(std::size_t bytes) override {
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, std::max<std::size_t>(bytes, 1));
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // it is answered here
      throw DeviceError("a buffer needs " + bytes_text(static_cast<double>(bytes)) + ", and " + info_.name +
                        " has " + bytes_text(static_cast<double>(available_bytes())) +
                        " free; choose fewer elements");
    }
    cuda_check(status, "allocating device memory");
    return data;
  }

  void release(void* data) noexcept override { cudaFree(data); }

  void fill(void* data, const Input& input, ElementType type, std::uint64_t first,
            std::uint64_t count) override {
    visit_real(type, [&](auto real) {
      using Real = decltype(real);
      const std::size_t parts = parts_of(type);
      fill_kernel<<<helper_grid(count * parts), helper_block>>>(static_cast<Real*>(data), input, parts, first,
                                                                count);
    });
    cuda_check(cudaGetLastError(), "filling the input");
    cuda_check(cudaDeviceSynchronize(), "filling the input");
  }

  void poison(void* data, std::size_t bytes) override {
    constexpr int pattern = 0xFF;  // NaN, or -1
    cuda_check(cudaMemset(data, pattern, bytes), "poisoning the output");
  }

  void download(void* host, const void* data, std::size_t bytes) override {
    cuda_check(cudaMemcpy(host, data, bytes, cudaMemcpyDeviceToHost), "running the kernels");
  }

  std::vector<double> time(const std::function<void()>& prepare, const std::function<void()>& launches,
                           const SamplingPlan& plan, const TimingMethod& method) override {
    using Clock = std::chrono::steady_clock;
    const std::size_t flush_bytes = timing_bytes();
    const DeviceBuffer flush(*this, flush_bytes);
    cuda_check(cudaMemset(flush.data(), 0, flush_bytes), "preparing the L2 flush");

    for (unsigned run = 0; run < method.warm_up_runs; ++run)
      launches();
    HostWord queued_sample;
    Event start;
    Event stop;
    std::vector<double> samples;
    const auto began = Clock::now();
    const auto seconds_spent = [&] { return std::chrono::duration<double>(Clock::now() - began).count(); };
    while (!enough_samples(plan, samples, seconds_spent())) {
      const unsigned sample = static_cast<unsigned>(samples.size()) + 1;
      prepare();
      flush_l2(method.flush, flush.data(), flush_bytes);
      if (method.queued) {
        hold_kernel<<<1, 1>>>(queued_sample.on_device(), sample);
        cuda_check(cudaGetLastError(), "holding the device");
      } else {
        cuda_check(cudaDeviceSynchronize(), "emptying the L2");
      }
      for (unsigned k = 0; k < method.lead_in; ++k)
        lead_in_kernel<<<1, 1>>>();
      cuda_check(cudaGetLastError(), "leading in");
      start.record();
      launches();
      stop.record();
      queued_sample.set(sample);
      stop.wait();
      samples.push_back(stop.ms_since(start));
    }
    return samples;
  }

 private:
  DeviceInfo info_;
};

}  // namespace

std::string cuda_unavailable_reason() {
  int driver_version = 0;
  if (cudaDriverGetVersion(&driver_version) == cudaSuccess && driver_version == 0)
    return "no NVIDIA driver is installed";
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return devices == 0 ? "the driver lists no CUDA device" : "";
}

std::unique_ptr<Device> open_cuda_device(int ordinal) {
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) throw DeviceError("no CUDA device: " + reason);
  int devices = 0;
  cuda_check(cudaGetDeviceCount(&devices), "counting the devices");
  if (ordinal >= devices) {
    throw DeviceError("there is no device cuda:" + std::to_string(ordinal) + "; this machine has cuda:0" +
                      (devices > 1 ? " to cuda:" + std::to_string(devices - 1) : std::string()) + " only");
  }
  return std::make_unique<CudaDevice>(ordinal);
}

}  // namespace reduction
