#include "harness/device.hpp"

#include <cudaTypedefs.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "device/cuda_check.cuh"
#include "harness/grid_stride.cuh"
#include "harness/units.hpp"

namespace reduction {

namespace {

template <typename Real>
__global__ void fill_kernel(Real* data, Input input, std::uint64_t parts, std::uint64_t first,
                            std::uint64_t count) {
  for (std::size_t k = grid_stride_start(); k < count * parts; k += grid_stride_step()) {
    data[k] = real_at<Real>(input, first + k / parts, k % parts, parts);
  }
}

int attribute(cudaDeviceAttr name, int ordinal) {
  int value = 0;
  cuda_check(cudaDeviceGetAttribute(&value, name, ordinal), "asking for a device attribute");
  return value;
}

/// Returns a function of the driver, which no program here is linked with; null if it has none of that version.
template <typename Function> Function driver_function(const char* name, [[maybe_unused]] unsigned version) {
  void* function = nullptr;
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, nullptr);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault);
#endif
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());  // the caller does without
  return reinterpret_cast<Function>(function);
}

/// Returns "GPU-6a4e...", or "MIG-..." for an instance of a GPU: the driver knows an instance by its own UUID, and
/// cudaDeviceProp by that of the GPU.
std::string uuid_of(int ordinal, const cudaDeviceProp& properties) {
  cudaUUID_t uuid = properties.uuid;
  const auto get_device = driver_function<PFN_cuDeviceGet_v2000>("cuDeviceGet", 2000);
  const auto get_uuid = driver_function<PFN_cuDeviceGetUuid_v11040>("cuDeviceGetUuid", 11040);
  CUdevice device{};
  if (get_device != nullptr && get_uuid != nullptr && get_device(&device, ordinal) == CUDA_SUCCESS &&
      get_uuid(&uuid, device) != CUDA_SUCCESS) {
    uuid = properties.uuid;
  }
  const bool is_instance = !std::equal(uuid.bytes, uuid.bytes + sizeof(uuid.bytes), properties.uuid.bytes);
  std::string text = is_instance ? "MIG-" : "GPU-";
  constexpr const char* digits = "0123456789abcdef";
  for (std::size_t k = 0; k < sizeof(uuid.bytes); ++k) {
    const auto byte = static_cast<unsigned char>(uuid.bytes[k]);
    if (k == 4 || k == 6 || k == 8 || k == 10) text += '-';
    text += digits[byte / 16];
    text += digits[byte % 16];
  }
  return text;
}

DeviceInfo describe(int ordinal) {
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, ordinal), "asking for the device's properties");
  DeviceInfo info;
  info.kind = DeviceKind::cuda;
  info.name = properties.name;
  info.uuid = uuid_of(ordinal, properties);
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

class CudaTimer final : public SampleTimer {
 public:
  CudaTimer(Device& device, const TimingMethod& method)
      : method_(method), flush_bytes_(flush_bytes(device.info().l2_bytes)), flush_(device, flush_bytes_) {
    cuda_check(cudaMemset(flush_.data(), 0, flush_bytes_), "preparing the L2 flush");
    cuda_check(cudaHostAlloc(&hold_, sizeof(Hold), cudaHostAllocMapped), "allocating pinned memory");
    *hold_ = {};
    cuda_check(cudaHostGetDevicePointer(&hold_on_device_, hold_, 0), "mapping pinned memory");
    cuda_check(cudaEventCreate(&start_), "creating an event");
    cuda_check(cudaEventCreate(&stop_), "creating an event");
  }

  ~CudaTimer() override {
    cudaEventDestroy(stop_);
    cudaEventDestroy(start_);
    cudaFreeHost(hold_);
  }

  void empty_l2() override {
    if (method_.flush == Flush::none) return;
    // Lines that the L2 was told to keep would outlive the rest. Devices before compute capability 8.0 have none.
    if (cudaCtxResetPersistingL2Cache() != cudaSuccess) static_cast<void>(cudaGetLastError());
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
      hold_kernel<<<1, 1>>>(hold_on_device_, sample_);
      cuda_check(cudaGetLastError(), "holding the device");
    } else {
      cuda_check(cudaDeviceSynchronize(), "emptying the L2");
    }
    for (unsigned k = 0; k < method_.lead_in; ++k)
      lead_in_kernel<<<1, 1>>>();
    cuda_check(cudaGetLastError(), "leading in");
    if (before) before();
    cuda_check(cudaEventRecord(start_), "recording an event");
  }

  double stop(const std::function<void()>& wait) override {
    cuda_check(cudaEventRecord(stop_), "recording an event");
    volatile Hold& hold = *hold_;
    hold.queued = sample_;
    if (wait) wait();
    cuda_check(cudaEventSynchronize(stop_), "waiting for the kernels");
    if (hold.given_up == sample_) throw SampleNotQueued{};
    float ms = 0;
    cuda_check(cudaEventElapsedTime(&ms, start_, stop_), "reading the elapsed time");
    return static_cast<double>(ms);
  }

 private:
  TimingMethod method_;
  std::size_t flush_bytes_;
  DeviceBuffer flush_;
  Hold* hold_ = nullptr;  ///< in host memory that the device reads and writes, too
  Hold* hold_on_device_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
  unsigned sample_ = 0;
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int ordinal) : info_(describe(ordinal)) {
    cuda_check(cudaSetDevice(ordinal), "choosing the device");
    cuda_check(cudaFree(nullptr), "starting the device");
  }

  const DeviceInfo& info() const override { return info_; }

  Memory memory() const override {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for the free memory");
    return {info_.name, free_bytes, "", flush_bytes(info_.l2_bytes)};
  }

  void* allocate(std::size_t bytes) override {
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, std::max<std::size_t>(bytes, 1));
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // it is answered here
      throw DeviceError("a buffer needs " + bytes_text(static_cast<double>(bytes)) + ", and " +
                        to_string(memory()) + "; choose fewer elements");
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

  void clear(void* data, std::size_t bytes) override {
    cuda_check(cudaMemset(data, 0, bytes), "clearing memory");
  }

  void synchronize() override { cuda_check(cudaDeviceSynchronize(), "running the kernels"); }

  void download(void* host, const void* data, std::size_t bytes) override {
    cuda_check(cudaMemcpy(host, data, bytes, cudaMemcpyDeviceToHost), "running the kernels");
  }

  std::unique_ptr<SampleTimer> make_timer(const TimingMethod& method) override {
    return std::make_unique<CudaTimer>(*this, method);
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

int visible_cuda_devices() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
}

std::unique_ptr<Device> open_cuda_device(int ordinal) {
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) throw DeviceError("no CUDA device: " + reason);
  const int devices = visible_cuda_devices();
  if (ordinal >= devices) {
    throw DeviceError("there is no device cuda:" + std::to_string(ordinal) + "; this machine has cuda:0" +
                      (devices > 1 ? " to cuda:" + std::to_string(devices - 1) : std::string()) + " only");
  }
  return std::make_unique<CudaDevice>(ordinal);
}

}  // namespace reduction
