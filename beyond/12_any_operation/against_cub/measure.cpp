#include "measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/sampling.hpp"

namespace reduction {

namespace {

/// More than the storage and the results of both take, with what the driver rounds that up to.
constexpr std::size_t room_for_both = std::size_t{64} << 20;

/// One of the two libraries, with its own storage and its own result.
class Side {
 public:
  Side(const Call& call, Device& device, const DeviceBuffer& in, std::uint64_t n, std::size_t result_bytes)
      : call_(call),
        device_(device),
        in_(in.data()),
        n_(n),
        result_bytes_(result_bytes),
        out_(device, result_bytes),
        storage_bytes_(needed_storage()),
        storage_(device, storage_bytes_) {}

  void launch() {
    std::size_t bytes = storage_bytes_;
    call_(storage_.data(), bytes, in_, out_.data(), n_);
  }

  /// Overwrites the result, and takes the time in ms in which the next one is there.
  double sample(SampleTimer& timer) {
    poison();
    timer.start();
    launch();
    return timer.stop();
  }

  void poison() { device_.poison(out_.data(), result_bytes_); }

  std::vector<double> result(const Case& chosen) const {
    std::vector<std::byte> bytes(result_bytes_);
    device_.download(bytes.data(), out_.data(), result_bytes_);
    return chosen.components(bytes.data());
  }

 private:
  std::size_t needed_storage() const {
    std::size_t bytes = 0;
    call_(nullptr, bytes, in_, out_.data(), n_);
    return bytes;
  }

  const Call& call_;
  Device& device_;
  const void* in_;
  std::uint64_t n_;
  std::size_t result_bytes_;
  DeviceBuffer out_;
  std::size_t storage_bytes_;
  DeviceBuffer storage_;
};

double take_sample(Side& side, SampleTimer& timer) {
  try {
    return take_queued_sample([&] { return side.sample(timer); });
  } catch (const SampleNotQueued& reason) {
    throw DeviceError(fmt::format(
        "{}, twice in a row, as with CUDA_LAUNCH_BLOCKING=1: its time would be the host's", reason.what()));
  }
}

}  // namespace

bool Comparison::within_tick() const {
  constexpr double tick_ms = 1e-4;
  // A little more: 0.0071 - 0.0070 is not 1e-4 in binary.
  return std::abs(cub.median - ours.median) < tick_ms * 1.001;
}

std::size_t needed_bytes(const Case& chosen, std::uint64_t n) {
  return static_cast<std::size_t>(n) * chosen.element_bytes + room_for_both;
}

Comparison compare(const Case& chosen, Device& device, SampleTimer& timer, const TimingMethod& method,
                   std::uint64_t n, std::size_t samples, std::uint64_t seed) {
  Comparison found;
  found.name = chosen.name;
  found.element_bytes = chosen.element_bytes;
  found.n = n;
  const DeviceBuffer in(device, static_cast<std::size_t>(n) * chosen.element_bytes);
  chosen.fill(in.data(), n, seed);
  Side ours(chosen.ours, device, in, n, chosen.result_bytes);
  Side cub(chosen.cub, device, in, n, chosen.result_bytes);
  const auto check = [&] {
    found.ours_result = ours.result(chosen);
    found.cub_result = cub.result(chosen);
    return found.verified();
  };

  ours.poison();
  cub.poison();
  for (unsigned run = 0; run < std::max(1u, method.warm_up_runs); ++run) {
    ours.launch();
    cub.launch();
  }
  if (!check()) return found;

  std::vector<double> ours_ms;
  std::vector<double> cub_ms;
  for (std::size_t k = 0; k < samples; ++k) {
    ours_ms.push_back(take_sample(ours, timer));
    cub_ms.push_back(take_sample(cub, timer));
  }
  check();
  found.samples = samples;
  found.ours = summarise(ours_ms);
  found.cub = summarise(cub_ms);
  require_possible(found.gbps(found.ours), device.info());
  require_possible(found.gbps(found.cub), device.info());
  return found;
}

}  // namespace reduction
