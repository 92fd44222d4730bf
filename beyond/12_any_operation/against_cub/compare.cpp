#include "against_cub.hpp"

namespace reduction {

namespace {

/// One of the two libraries, with its own storage and its own result.
struct Side {
  Side(const Case& chosen, const Call& call, Device& device, const void* in, std::size_t n)
      : out(device, chosen.result_bytes) {
    std::size_t bytes = 0;
    call(nullptr, bytes, in, out.data(), n);
    storage.emplace(device, bytes);
    launch = [=, this, &call]() mutable { call(storage->data(), bytes, in, out.data(), n); };
    device.poison(out.data(), chosen.result_bytes);
  }

  DeviceBuffer out;
  std::optional<DeviceBuffer> storage;
  std::function<void()> launch;
  std::vector<double> ms;
};

}  // namespace

Comparison compare(const Case& chosen, Device& device, SampleTimer& timer, std::size_t n, std::uint64_t seed,
                   std::size_t samples) {
  const DeviceBuffer in(device, n * chosen.element_bytes);
  chosen.fill(in.data(), n, seed);
  Side ours(chosen, chosen.ours, device, in.data(), n);
  Side cub(chosen, chosen.cub, device, in.data(), n);

  const auto measured = [&](const Side& side) {
    std::vector<std::byte> result(chosen.result_bytes);
    device.download(result.data(), side.out.data(), result.size());
    Measured found{chosen.numbers(result.data()), std::nullopt, std::nullopt};
    if (side.ms.empty()) return found;
    found.ms = summarise(side.ms);
    found.gbps = static_cast<double>(n * chosen.element_bytes) / found.ms->median / 1e6;
    require_possible(*found.gbps, device.info());
    return found;
  };

  for (unsigned run = 0; run < TimingMethod{}.warm_up_runs; ++run)
    for (Side* const side : {&ours, &cub})
      side->launch();
  const Comparison first{measured(ours), measured(cub)};
  if (!first.verified()) return first;
  for (std::size_t k = 0; k < samples; ++k) {
    for (Side* const side : {&ours, &cub}) {
      side->ms.push_back(take_queued_sample([&] {
        device.poison(side->out.data(), chosen.result_bytes);
        timer.start();
        side->launch();
        return timer.stop();
      }));
    }
  }
  return {measured(ours), measured(cub)};
}

}  // namespace reduction
