#include <cstring>
#include <vector>

#include "emulated/run/device.hpp"
#include "emulated/run/launch.hpp"
#include "harness/device.hpp"

namespace reduction {

namespace {

class EmulatedDevice final : public Device {
 public:
  explicit EmulatedDevice(const Emulation& emulation) : counts_(emulation.counters) {
    __emulated::set_instrumented(emulation.counters);
    __emulated::set_schedule(emulation.schedule);
    info_.kind = DeviceKind::emulated;
    info_.name = __emulated::device_name;
    info_.sms = __emulated::properties().sms;
  }

  const DeviceInfo& info() const override { return info_; }
  Memory memory() const override { return emulated_memory(); }
  void* allocate(std::size_t bytes) override { return __emulated::allocate(bytes); }
  void release(void* data) noexcept override { __emulated::release(data); }

  void fill(void* data, const Input& input, ElementType type, std::uint64_t first,
            std::uint64_t count) override {
    fill_host(data, input, type, first, count);
    __emulated::mark_initialised(data, count * size_of(type));
  }

  void poison(void* data, std::size_t bytes) override {
    std::memset(data, 0xFF, bytes);
    __emulated::mark_uninitialised(data, bytes);
  }

  void clear(void* data, std::size_t bytes) override {
    std::memset(data, 0, bytes);
    __emulated::mark_initialised(data, bytes);
  }

  void synchronize() override {}  // a launch returns when it has ended

  void download(void* host, const void* data, std::size_t bytes) override { std::memcpy(host, data, bytes); }

  std::vector<__emulated::Counters> counters_of(const std::function<void()>& body) override {
    std::vector<__emulated::LaunchResult> results;
    __emulated::run_with_results(body, results);
    std::vector<__emulated::Counters> counters;
    for (const __emulated::LaunchResult& result : results)
      if (counts_) counters.push_back(result.counters);
    return counters;
  }

  std::unique_ptr<SampleTimer> make_timer(const TimingMethod&) override { return nullptr; }

 private:
  bool counts_;
  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Device> open_emulated_device(const Emulation& emulation) {
  return std::make_unique<EmulatedDevice>(emulation);
}

}  // namespace reduction
