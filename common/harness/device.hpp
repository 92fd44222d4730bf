#pragma once
/// \file
/// What the harness asks of a device, and every way to one: what is there, what the user means, and opening it.

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "device/device_error.hpp"
#include "emulated/count/counters.hpp"
#include "harness/input.hpp"
#include "harness/memory.hpp"
#include "harness/options.hpp"
#include "harness/timing_method.hpp"

namespace reduction {

enum class DeviceKind { cuda, emulated, cpu };

/// Returns the name that JSON has for it.
constexpr std::string_view to_string(DeviceKind kind) {
  constexpr std::array<std::string_view, 3> names{"cuda", "emulated", "cpu"};
  return names[static_cast<std::size_t>(kind)];
}

/// What a report says of the machine that ran a step.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::cpu;
  std::string name;                ///< the vendor's name
  std::string compute_capability;  ///< "9.0"; empty where there is none
  unsigned sms = 0;                ///< streaming multiprocessors
  std::size_t l2_bytes = 0;
  std::optional<double> peak_gbps;  ///< memory clock x bus width x 2 / 8; none where the device does not tell
  std::string uuid;  ///< of a GPU, or of an instance of one (MIG), as nvidia-smi prints it; else empty
};

/// Thrown by a timer if its device did not wait until a whole sample was queued.
struct SampleNotQueued : std::exception {
  const char* what() const noexcept override { return "the device did not wait for the whole sample"; }
};

/// The device's own clock around what is queued between start() and stop(). Every member throws DeviceError when the
/// device fails.
class SampleTimer {
 public:
  virtual ~SampleTimer() = default;

  /// Queues what empties the device's L2, as the TimingMethod says.
  virtual void empty_l2() = 0;

  /// Empties the L2, holds the device where the TimingMethod says so, and starts the clock; just before that it queues what
  /// `before` launches, if it is given.
  virtual void start(const std::function<void()>& before = {}) = 0;

  /// Stops the clock, lets the device go and waits for it: first with `wait`, if it is given. Returns the ms since start().
  /// Throws SampleNotQueued if the device was held and went on too early: the host's launch latency is in that time.
  virtual double stop(const std::function<void()>& wait = {}) = 0;
};

/// Where a step runs. Every member throws DeviceError when the device fails.
class Device {
 public:
  virtual ~Device() = default;

  virtual const DeviceInfo& info() const = 0;

  /// Returns what is free of its memory now, and what the device itself needs of that beside the step's.
  virtual Memory memory() const = 0;

  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* data) noexcept = 0;

  /// Writes elements `first` to `first + count - 1` of `input` to `data`.
  virtual void fill(void* data, const Input& input, ElementType type, std::uint64_t first,
                    std::uint64_t count) = 0;

  /// Overwrites `bytes` at `data` with a pattern that is no plausible result.
  virtual void poison(void* data, std::size_t bytes) = 0;

  /// Overwrites `bytes` at `data` with zeros.
  virtual void clear(void* data, std::size_t bytes) = 0;

  /// Waits for everything queued so far.
  virtual void synchronize() = 0;

  /// Copies to the host, after everything queued so far has finished.
  virtual void download(void* host, const void* data, std::size_t bytes) = 0;

  /// Runs `body` and returns what each of its launches did, in order; nothing if the device does not count.
  virtual std::vector<__emulated::Counters> counters_of(const std::function<void()>& body) {
    body();
    return {};
  }

  /// Makes a clock for what is queued on the device; null if time on this device means nothing. It uses
  /// memory().own_bytes of device memory, and must not outlive the device.
  virtual std::unique_ptr<SampleTimer> make_timer(const TimingMethod& method) = 0;
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

/// Says why no CUDA device can be used: the driver's reason, or that the build has no CUDA. Empty if there is one.
std::string cuda_unavailable_reason();

/// Returns how many CUDA devices this process sees: CUDA_VISIBLE_DEVICES, or who started it, may hide others.
int visible_cuda_devices();

/// Opens CUDA device `ordinal` and makes it current. Throws DeviceError if there is none of that number.
std::unique_ptr<Device> open_cuda_device(int ordinal);

/// Opens the emulated device, which every machine has, to run as `emulation` says.
std::unique_ptr<Device> open_emulated_device(const Emulation& emulation = {});

/// Which device a command line means on this machine.
struct ChosenDevice {
  DeviceKind kind;
  int ordinal = 0;   ///< of a CUDA device
  std::string note;  ///< why it is the emulated one, if the user left the choice
};

/// Chooses what the user named, else the first GPU, else the emulated device.
inline ChosenDevice choose_device(const DeviceChoice& choice) {
  if (choice.kind == DeviceChoice::Kind::cuda) return {DeviceKind::cuda, choice.ordinal, ""};
  if (choice.kind == DeviceChoice::Kind::emulated) return {DeviceKind::emulated, 0, ""};
  const std::string unavailable = cuda_unavailable_reason();
  if (unavailable.empty()) return {DeviceKind::cuda, 0, ""};
  return {DeviceKind::emulated, 0, "no CUDA device here: " + unavailable};
}

}  // namespace reduction
