/// \file
/// 12's reduce() and CUB's reduction in one process and in turn, so that whatever the device does meanwhile, both have it.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cases.hpp"
#include "command_line.hpp"
#include "harness/device.hpp"
#include "harness/exit_code.hpp"
#include "measure.hpp"
#include "report.hpp"

namespace reduction {

namespace {

constexpr std::string_view program = "12_against_cub";

std::vector<Case> all_cases() {
  std::vector<Case> cases = sums();
  for (const auto& more : {sums_with_promises(), small_types(), other_operations()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

std::unique_ptr<Device> open_device(const DeviceChoice& choice) {
  const ChosenDevice chosen = choose_device(choice);
  if (chosen.kind == DeviceKind::cuda) return open_cuda_device(chosen.ordinal);
  throw DeviceError("it needs a CUDA device" + (chosen.note.empty() ? "" : "; " + chosen.note));
}

std::vector<std::uint64_t> sizes_for(const Case& chosen, const Sizes& sizes, const Device& device,
                                     std::uint64_t seed) {
  if (!sizes.sweep) return sizes.list;
  if (sizes.most) return sweep_sizes(*sizes.most, seed);
  std::uint64_t most = 1;
  while (needed_bytes(chosen, 2 * most) <= device.memory().free_bytes)
    most *= 2;
  return sweep_sizes(most, seed);
}

ExitCode run(const CommandLine& line, const std::vector<Case>& cases) {
  ComparisonReport report(program, line, cub_version());
  const std::unique_ptr<Device> device = open_device(line.device);
  const TimingMethod method;
  const std::unique_ptr<SampleTimer> timer = device->make_timer(method);
  report.begin(device->info(), method);
  for (const Case& chosen : cases) {
    if (std::ranges::find(line.cases, chosen.name) == line.cases.end()) continue;
    for (const std::uint64_t n : sizes_for(chosen, line.sizes, *device, line.seed)) {
      if (!report.goes_on()) return report.finish();
      const std::size_t available = device->memory().free_bytes;
      if (needed_bytes(chosen, n) > available) {
        report.leave_out(chosen.name, n, needed_bytes(chosen, n), available);
        continue;
      }
      report.add(compare(chosen, *device, *timer, method, n, line.samples, line.seed));
    }
  }
  return report.finish();
}

}  // namespace

}  // namespace reduction

int main(int argc, char** argv) {
  using namespace reduction;
  return exit_code_of(program, [&] {
    const std::vector<Case> cases = all_cases();
    std::vector<std::string> names;
    for (const Case& chosen : cases)
      names.push_back(chosen.name);
    const CommandLine line = parse_command_line(argc, argv, program, names);
    if (!line.answer.empty()) {
      print(stdout, line.answer);
      return ExitCode::verified;
    }
    return run(line, cases);
  });
}
