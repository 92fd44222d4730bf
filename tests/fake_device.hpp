#pragma once
/// \file
/// A device whose times a test decides.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "harness/device.hpp"
#include "harness/input.hpp"

namespace reduction {

/// Reports the times it is given, one after the other. Says of the first `unqueued` samples that they were not queued.
class FakeTimer final : public SampleTimer {
 public:
  FakeTimer(const std::vector<double>& sample_ms, unsigned unqueued)
      : sample_ms_(sample_ms), unqueued_(unqueued) {}

  void empty_l2() override {}
  void start(const std::function<void()>&) override {}
  double stop(const std::function<void()>&) override {
    if (unqueued_ > 0) {
      --unqueued_;
      throw SampleNotQueued{};
    }
    return sample_ms_.at(next_++ % sample_ms_.size());
  }

 private:
  std::vector<double> sample_ms_;
  unsigned unqueued_;
  std::size_t next_ = 0;
};

/// Host memory that passes for a GPU's. `sample_ms` are the times it reports.
class FakeDevice final : public Device {
 public:
  FakeDevice() {
    info_.kind = DeviceKind::cuda;
    info_.name = "fake";
    info_.peak_gbps = 100.0;
  }

  const DeviceInfo& info() const override { return info_; }
  Memory memory() const override { return {info_.name, 1 << 20}; }
  void* allocate(std::size_t bytes) override { return std::malloc(bytes + 1); }
  void release(void* data) noexcept override { std::free(data); }
  void fill(void* data, const Input& input, ElementType type, std::uint64_t first,
            std::uint64_t count) override {
    fill_host(data, input, type, first, count);
  }
  void poison(void* data, std::size_t bytes) override { std::memset(data, 0xFF, bytes); }
  void download(void* host, const void* data, std::size_t bytes) override { std::memcpy(host, data, bytes); }
  void clear(void* data, std::size_t bytes) override { std::memset(data, 0, bytes); }
  void synchronize() override {}
  std::unique_ptr<SampleTimer> make_timer(const TimingMethod& method) override {
    queued = method.queued;
    return std::make_unique<FakeTimer>(sample_ms, method.queued ? unqueued : 0);
  }

  std::vector<double> sample_ms{1.0, 3.0, 2.0};
  unsigned unqueued = 0;  ///< samples for which it does not wait until they are queued
  bool queued = false;    ///< how the samples were taken

 private:
  DeviceInfo info_;
};

}  // namespace reduction
