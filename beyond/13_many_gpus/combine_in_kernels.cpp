#include "combine.hpp"
#include "mailboxes.hpp"

namespace reduction {

namespace {

class CombineInKernels final : public Combine {
 public:
  explicit CombineInKernels(const CombineSettings& settings)
      : settings_(settings), mailboxes_(make_mailboxes(settings.device, settings.kernel)) {
    std::string reason = "another rank's device does not reach this one's memory";
    if (!mailboxes_->share(settings.ranks, reason)) throw DeviceError(reason);
  }

  std::string name() const override { return "the kernels"; }
  const Neighbours& neighbours() const override { return mailboxes_->neighbours(); }
  void start(void* sum) override { sum_ = sum; }  // the kernels have done so

  void wait() override {
    const WaitLimit::Wait wait(settings_.ranks.limit(), "the sum of all GPUs did not come");
    settings_.device.synchronize();
  }

  Value sum() override {
    Value value{settings_.type, {}};
    settings_.device.download(value.bytes.data(), sum_, size_of(settings_.type));
    return value;
  }

  bool meet() override {
    settings_.kernel.launch(neighbours(), nullptr, meeting_.data(), 0);
    return true;
  }

 private:
  CombineSettings settings_;
  std::unique_ptr<Mailboxes> mailboxes_;
  DeviceBuffer meeting_{settings_.device, size_of(settings_.type)};
  const void* sum_ = nullptr;
};

}  // namespace

std::unique_ptr<Combine> combine_in_kernels(const CombineSettings& settings) {
  return std::make_unique<CombineInKernels>(settings);
}

}  // namespace reduction
