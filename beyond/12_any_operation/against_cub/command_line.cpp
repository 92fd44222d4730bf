#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/input.hpp"

namespace reduction {

namespace {

constexpr std::uint64_t least_of_sweep = std::uint64_t{1} << 10;

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::uint64_t parse_size(const std::string& text) {
  const Reader<std::uint64_t> elements = elements_reader();
  const std::optional<std::uint64_t> n = elements.read(text);
  if (!n) throw UsageError(fmt::format("--elements '{}': {}", text, elements.allowed));
  if (*n == 0) throw UsageError(fmt::format("--elements '{}': give at least one element", text));
  return *n;
}

std::vector<std::string> parse_cases(const std::string& text, const std::vector<std::string>& all) {
  const std::vector<std::string> chosen = split_at_commas(text);
  for (const std::string& name : chosen) {
    if (std::ranges::find(all, name) != all.end()) continue;
    throw UsageError(fmt::format("--cases '{}': choose one of {}", name, fmt::join(all, ", ")));
  }
  return chosen;
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv, std::string_view name,
                               const std::vector<std::string>& cases) {
  CommandLine line;
  line.cases = cases;
  OptionParser app(std::string(name),
                   fmt::format("{}: times reduction::reduce and cub::DeviceReduce in turn on the same input, "
                               "and compares their results.",
                               name));
  app.add_version();
  app.add("-n,--elements", "LIST",
          "how many: numbers such as 1000003, 2^28 or 64M, with commas between; default 2^16,2^20,2^24,2^28. "
          "sweep: powers of two from 2^10 to what fits, and 40 odd numbers between them; sweep:COUNT ends at "
          "COUNT",
          line.sizes, Reader<Sizes>{parse_sizes, ""});
  app.add("--cases", "LIST", fmt::format("with commas between; default all: {}", fmt::join(cases, ", ")),
          line.cases,
          Reader<std::vector<std::string>>{[&](const std::string& text) { return parse_cases(text, cases); },
                                           ""});
  app.add("-s,--samples", "COUNT", "timed runs of each; default 41", line.samples, samples_reader());
  app.add("--seed", "NUMBER", "of the input, and of the sizes that a sweep draws; default 1", line.seed,
          seed_reader());
  app.add("--device", "DEVICE", "auto (default), cuda or cuda:N", line.device, device_reader());
  app.add_file("--json", "also write the results there; - for stdout", line.json_file);
  app.add_flag("-q,--quiet", "print the tables only", line.quiet);
  line.answer = app.read(argc, argv);
  return line;
}

Sizes parse_sizes(const std::string& text) {
  constexpr std::string_view sweep = "sweep";
  Sizes sizes{{}, text.starts_with(sweep), std::nullopt};
  if (!sizes.sweep) {
    for (const std::string& part : split_at_commas(text))
      sizes.list.push_back(parse_size(part));
  } else if (text != sweep) {
    if (text[sweep.size()] != ':')
      throw UsageError(fmt::format("--elements '{}': a sweep is sweep or sweep:COUNT", text));
    sizes.most = parse_size(text.substr(sweep.size() + 1));
    if (*sizes.most < least_of_sweep)
      throw UsageError(fmt::format("--elements '{}': a sweep begins at 2^10", text));
  }
  return sizes;
}

std::vector<std::uint64_t> sweep_sizes(std::uint64_t most, std::uint64_t seed) {
  constexpr std::size_t between = 40;
  std::set<std::uint64_t> sizes;
  for (std::uint64_t n = least_of_sweep; n <= most; n *= 2)
    sizes.insert(n);
  const std::size_t powers = sizes.size();
  if (powers < 2) return {sizes.begin(), sizes.end()};
  const auto octaves = static_cast<double>(powers - 1);
  for (std::uint64_t k = 0; sizes.size() < powers + between; ++k) {
    const double share = static_cast<double>(random_bits(seed, k) >> 11) * 0x1p-53;  // in [0, 1)
    sizes.insert(static_cast<std::uint64_t>(std::exp2(share * octaves) * least_of_sweep) | 1);
  }
  return {sizes.begin(), sizes.end()};
}

}  // namespace reduction
