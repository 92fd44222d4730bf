#include "harness/emulated_device.hpp"

#include <cstring>

#include "device/emulated/device.hpp"
#include "harness/host_fill.hpp"
#include "harness/host_memory.hpp"

namespace reduction {

namespace {

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const Emulation& emulation) : counts_(emulation.counters) {
    emulated::set_instrumented(emulation.counters);
    emulated::set_schedule(emulation.schedule);
    info_.kind = DeviceKind::emulated;
    info_.name = emulated::properties().name;
    info_.sms = emulated::properties().sms;
  }

  const DeviceInfo& info() const override { return info_; }
  std::size_t available_bytes() const override { return available_host_bytes(); }
  std::size_t timing_bytes() const override { return 0; }
  void* allocate(std::size_t bytes) override { return emulated::allocate(bytes); }
  void release(void* data) noexcept override { emulated::release(data); }

  void fill(void* data, const Input& input, ElementType type, std::uint64_t first,
            std::uint64_t count) override {
    fill_host(data, input, type, first, count);
    emulated::mark_initialised(data, count * size_of(type));
  }

  void poison(void* data, std::size_t bytes) override {
    std::memset(data, 0xFF, bytes);
    emulated::mark_uninitialised(data, bytes);
  }

  void download(void* host, const void* data, std::size_t bytes) override { std::memcpy(host, data, bytes); }

  std::optional<emulated::Counters> last_launch_counters() const override {
    return counts_ ? std::optional(emulated::last_launch_counters()) : std::nullopt;
  }

  std::vector<double> time(const std::function<void()>&, const std::function<void()>&, const SamplingPlan&,
                           const TimingMethod&) override {
    return {};
  }

 private:
  bool counts_;
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Device> open_emulated_device(const Emulation& emulation) {
  return std::make_unique<EmulatedDevice>(emulation);
}

}  // namespace reduction
