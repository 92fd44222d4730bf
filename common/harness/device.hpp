#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_error.hpp"
#include "device/emulated/counters.hpp"
#include "harness/element_type.hpp"
#include "harness/input.hpp"
#include "harness/sampling.hpp"
#include "harness/timing_method.hpp"

namespace reduction {

enum class DeviceKind { cuda, emulated, cpu };

/// The name that JSON has for it.
constexpr std::string_view to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cuda: return "cuda";
    case DeviceKind::emulated: return "emulated";
    default: return "cpu";
  }
}

/// What a report says of the machine that ran a step.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::cpu;
  std::string name;                ///< the vendor's name
  std::string compute_capability;  ///< "9.0"; empty where there is none
  unsigned sms = 0;                ///< streaming multiprocessors
  std::size_t l2_bytes = 0;
  std::optional<double> peak_gbps;  ///< memory clock x bus width x 2 / 8; none where the device does not tell
};

/// Where a step runs. Every member throws DeviceError when the device fails.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;

  /// Device memory that is free now, in bytes.
  virtual std::size_t available_bytes() const = 0;

  /// Device memory that timing needs beside the step's own, in bytes.
  virtual std::size_t timing_bytes() const = 0;

  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* data) noexcept = 0;

  /// Writes elements `first` to `first + count - 1` of `input` to `data`.
  virtual void fill(void* data, const Input& input, ElementType type, std::uint64_t first,
                    std::uint64_t count) = 0;

  /// Overwrites `bytes` at `data` with a pattern that is no plausible result.
  virtual void poison(void* data, std::size_t bytes) = 0;

  /// Copies to the host, after everything launched so far has finished.
  virtual void download(void* host, const void* data, std::size_t bytes) = 0;

  /// What the last launch did, where the device counts that.
  virtual std::optional<emulated::Counters> last_launch_counters() const { return std::nullopt; }

  /// Times launches(), which only queues kernels; prepare() goes before each sample and is not timed.
  /// One entry a sample, in ms; none where time on this device means nothing.
  virtual std::vector<double> time(const std::function<void()>& prepare,
                                   const std::function<void()>& launches, const SamplingPlan& plan,
                                   const TimingMethod& method) = 0;
};

/// A block of device memory, released with its owner.
class DeviceBuffer {
 public:
  DeviceBuffer(Device& device, std::size_t bytes)
      : memory_(device.allocate(bytes), [&device](void* data) { device.release(data); }) {}

  void* data() const { return memory_.get(); }

 private:
  std::unique_ptr<void, std::function<void(void*)>> memory_;
};

}  // namespace reduction
