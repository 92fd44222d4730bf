#include "against_cub.hpp"

namespace reduction {

namespace {

/// One of the two libraries, with its own storage and its own result.
class Side {
 public:
  Side(const Case& chosen, const Call& call, Device& device, const void* in, std::size_t n)
      : case_(chosen), call_(call), device_(device), in_(in), n_(n), out_(device, chosen.result_bytes) {
    call_(nullptr, storage_bytes_, in_, out_.data(), n_);
    storage_.emplace(device, storage_bytes_);
    poison();
  }

  void launch() { call_(storage_->data(), storage_bytes_, in_, out_.data(), n_); }

  /// Overwrites the result, and times how long the next one takes.
  void sample(SampleTimer& timer) {
    ms_.push_back(take_queued_sample([&] {
      poison();
      timer.start();
      launch();
      return timer.stop();
    }));
  }

  Measured measured() const {
    std::vector<std::byte> result(case_.result_bytes);
    device_.download(result.data(), out_.data(), result.size());
    Measured found{case_.numbers(result.data()), std::nullopt, std::nullopt};
    if (ms_.empty()) return found;
    found.ms = summarise(ms_);
    found.gbps = static_cast<double>(n_ * case_.element_bytes) / found.ms->median / 1e6;
    require_possible(*found.gbps, device_.info());
    return found;
  }

 private:
  void poison() { device_.poison(out_.data(), case_.result_bytes); }

  const Case& case_;
  const Call& call_;
  Device& device_;
  const void* in_;
  std::size_t n_;
  DeviceBuffer out_;
  std::size_t storage_bytes_ = 0;
  std::optional<DeviceBuffer> storage_;
  std::vector<double> ms_;
};

}  // namespace

Comparison compare(const Case& chosen, Device& device, SampleTimer& timer, std::size_t n, std::uint64_t seed,
                   std::size_t samples) {
  const DeviceBuffer in(device, n * chosen.element_bytes);
  chosen.fill(in.data(), n, seed);
  Side ours(chosen, chosen.ours, device, in.data(), n);
  Side cub(chosen, chosen.cub, device, in.data(), n);
  for (unsigned run = 0; run < TimingMethod{}.warm_up_runs; ++run) {
    ours.launch();
    cub.launch();
  }
  const Comparison first{ours.measured(), cub.measured()};
  if (!first.verified()) return first;
  for (std::size_t k = 0; k < samples; ++k) {
    ours.sample(timer);
    cub.sample(timer);
  }
  return {ours.measured(), cub.measured()};
}

}  // namespace reduction
