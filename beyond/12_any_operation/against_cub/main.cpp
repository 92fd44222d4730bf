/// \file
/// 12's reduce() and CUB's reduction in one process and in turn, so that whatever the device does meanwhile, both have it.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "against_cub.hpp"
#include "harness/exit_code.hpp"
#include "harness/report.hpp"
#include "harness/result_json.hpp"
#include "harness/units.hpp"
#include "harness/version.hpp"

namespace reduction {

namespace {

constexpr const char* program = "12_against_cub";
/// More than the storage and the results of both take beside the input, with what the driver rounds that up to.
constexpr std::size_t room_for_both = std::size_t{64} << 20;
constexpr const char* row = "{:<23} {:>11} {:>9} {:>7} {:>9} {:>7} {:>5}\n";

/// Some of a step's options, and the name of a case.
struct CommandLine : Options {
  std::string only;  ///< empty: all
};

CommandLine parse(int argc, char** argv, const std::vector<Case>& cases) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const Case& each : cases)
    names.emplace_back(each.name, each.name);
  CommandLine line;
  line.samples = 41;
  OptionParser app(program,
                   "Times reduction::reduce and cub::DeviceReduce in turn, and compares their results.");
  app.add_version();
  app.add("--case", "NAME", "the only one, as sum_int32; default all", line.only, one_of(names));
  app.add("-n,--elements", "COUNT", "how many, as 1000003, 2^28 or 64M; default 2^28", line.elements,
          elements_reader());
  app.add("--sweep", "size",
          "a row for every power of two from 2^10 to COUNT, default what fits, and for odd numbers between",
          line.sweep, one_of<Sweep>({{"size", Sweep::size}}));
  app.add("-s,--samples", "COUNT", "timed runs of each; default 41", line.samples, samples_reader());
  app.add("--seed", "NUMBER", "of the input; default 1", line.seed, seed_reader());
  app.add("--device", "DEVICE", "auto (default), cuda or cuda:N", line.device, device_reader());
  app.add_file("--json", "also write the results there; - for stdout", line.json_file);
  app.add_flag("-q,--quiet", "print the rows only", line.quiet);
  line.answer = app.read(argc, argv);
  if (line.elements == 0) throw UsageError("--elements '0': give one at least");
  if (line.device.kind == DeviceChoice::Kind::emulated)
    throw UsageError("--device emulated: it needs a CUDA device");
  return line;
}

/// Lists the powers of two from 2^10 to `most`, and an odd number that is drawn between each two.
std::vector<std::uint64_t> sweep_sizes(std::uint64_t most) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t n = 1 << 10; n <= most; n *= 2) {
    sizes.push_back(n);
    if (2 * n <= most) sizes.push_back((n + random_bits(1, n) % n) | 1);
  }
  return sizes;
}

ExitCode run(const std::vector<Case>& cases, const CommandLine& line) {
  OutputFile json_file(line.json_file);
  std::FILE* const out = json_file.is_stdout() ? stderr : stdout;
  const std::unique_ptr<Device> device = open_cuda_device(line.device.ordinal);
  const std::unique_ptr<SampleTimer> timer = device->make_timer(line.timing);
  if (!line.quiet) print(out, fmt::format("{}, CUB {}\n\n", device_text(device->info()), cub_version()));
  print(out, fmt::format(row, "case", "elements", "ms", "GB/s", "CUB: ms", "GB/s", "ratio"));

  ExitCode code = ExitCode::verified;
  auto results = nlohmann::ordered_json::array();
  const std::uint64_t elements = line.elements.value_or(std::uint64_t{1} << (line.sweep ? 36 : 28));
  for (const Case& chosen : cases) {
    if (!line.only.empty() && line.only != chosen.name) continue;
    for (const std::uint64_t n : line.sweep ? sweep_sizes(elements) : std::vector{elements}) {
      if (line.sweep && n * chosen.element_bytes + room_for_both > device->memory().free_bytes) break;
      const Comparison found = compare(chosen, *device, *timer, n, line.seed, *line.samples);
      const auto& [ours, cub] = found;
      results.push_back({{"case", chosen.name},
                         {"elements", n},
                         {"element_bytes", chosen.element_bytes},
                         {"samples", ours.ms ? *line.samples : 0},
                         {"ms", ours.ms},
                         {"cub_ms", cub.ms},
                         {"gbps", ours.gbps},
                         {"cub_gbps", cub.gbps},
                         {"verified", found.verified()},
                         {"device", device->info()},
                         {"timing", line.timing},
                         {"seed", line.seed},
                         {"version", version},
                         {"cub_version", cub_version()}});
      json_file.keep(results.dump(2) + '\n');
      if (!found.verified()) {
        code = ExitCode::wrong_result;
        print(stderr, fmt::format("{}: {}, {} elements: WRONG: {}, and CUB has {}\n", program, chosen.name,
                                  count_text(n), fmt::join(ours.result, ", "), fmt::join(cub.result, ", ")));
        continue;
      }
      print(out, fmt::format(row, chosen.name, count_text(n), or_dash(ours.ms->median, 5),
                             or_dash(ours.gbps, 1), or_dash(cub.ms->median, 5), or_dash(cub.gbps, 1),
                             or_dash(cub.ms->median / ours.ms->median, 3)));
    }
  }
  json_file.write(results.dump(2) + '\n');
  return code;
}

}  // namespace

}  // namespace reduction

int main(int argc, char** argv) {
  using namespace reduction;
  return exit_code_of(program, [&] {
    const std::vector<Case> cases = all_cases();
    const CommandLine line = parse(argc, argv, cases);
    if (line.answer.empty()) return run(cases, line);
    print(stdout, line.answer);
    return ExitCode::verified;
  });
}
