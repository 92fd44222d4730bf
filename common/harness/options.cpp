#include "harness/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "harness/exit_code.hpp"
#include "harness/text_options.hpp"

namespace reduction {

namespace {

constexpr std::uint64_t most_elements = std::uint64_t{1} << 48;

/// Reads the whole of `text` as a decimal number, or returns none.
template <typename Number> std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Finds the value that goes by the name `text`.
template <typename Value, std::size_t count>
Value parse_name(std::string_view option, const std::string& text,
                 const std::array<std::pair<std::string_view, Value>, count>& names) {
  std::vector<std::string_view> allowed;
  for (const auto& [name, value] : names) {
    if (name == text) return value;
    allowed.push_back(name);
  }
  throw UsageError(fmt::format("{} '{}': choose one of {}", option, text, fmt::join(allowed, ", ")));
}

constexpr std::array<std::pair<std::string_view, Data>, 3> data_names{
    {{"random", Data::random}, {"ones", Data::ones}, {"cancelling", Data::cancelling}}};
constexpr std::array<std::pair<std::string_view, Flush>, 3> flush_names{
    {{to_string(Flush::read), Flush::read},
     {to_string(Flush::memset), Flush::memset},
     {to_string(Flush::none), Flush::none}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> on_off_names{{{"on", true}, {"off", false}}};
constexpr std::array<std::pair<std::string_view, Sweep>, 3> sweep_names{
    {{"block", Sweep::block}, {"size", Sweep::size}, {"type", Sweep::type}}};

unsigned parse_block(const std::string& text) {
  const auto block = parse_number<unsigned>(text);
  if (!block || std::find(block_sizes.begin(), block_sizes.end(), *block) == block_sizes.end()) {
    throw UsageError(fmt::format("--block '{}': choose one of {}", text, fmt::join(block_sizes, ", ")));
  }
  return *block;
}

/// Reads 0 to `most`.
unsigned parse_count(std::string_view option, const std::string& text, unsigned most) {
  const auto count = parse_number<unsigned>(text);
  if (!count || *count > most)
    throw UsageError(fmt::format("{} '{}': give a whole number from 0 to {}", option, text, most));
  return *count;
}

}  // namespace

std::string_view to_string(Data data) {
  const auto* const named = std::find_if(data_names.begin(), data_names.end(),
                                         [&](const auto& name) { return name.second == data; });
  return named->first;
}

ElementType parse_type(const std::string& text) {
  std::array<std::pair<std::string_view, ElementType>, element_types.size()> names;
  std::transform(element_types.begin(), element_types.end(), names.begin(),
                 [](ElementType type) { return std::pair(to_string(type), type); });
  return parse_name("--type", text, names);
}

std::size_t parse_samples(const std::string& text) {
  const auto samples = parse_number<std::size_t>(text);
  if (!samples || *samples < 1 || *samples > 1'000'000) {
    throw UsageError(fmt::format("--samples '{}': give a whole number from 1 to 1000000", text));
  }
  return *samples;
}

std::uint64_t parse_seed(const std::string& text) {
  const auto seed = parse_number<std::uint64_t>(text);
  if (!seed) throw UsageError(fmt::format("--seed '{}': give a whole number from 0 to 2^64 - 1", text));
  return *seed;
}

Data parse_data(const std::string& text) { return parse_name("--data", text, data_names); }

std::uint64_t parse_elements(const std::string& text) {
  const auto number = [&]() -> std::optional<std::uint64_t> {
    const std::string_view whole = text;
    if (const auto caret = whole.find('^'); caret != std::string_view::npos) {
      const auto base = parse_number<std::uint64_t>(whole.substr(0, caret));
      const auto exponent = parse_number<unsigned>(whole.substr(caret + 1));
      if (!base || !exponent) return std::nullopt;
      std::uint64_t power = 1;
      // A base of 0 or 1 stays what it is; any other passes the limit before the loop runs long.
      for (unsigned k = 0; k < std::min(*exponent, 64u); ++k) {
        if (*base != 0 && power > most_elements / *base) return most_elements + 1;
        power *= *base;
      }
      return power;
    }
    constexpr std::string_view suffixes = "KMG";
    const auto suffix = whole.empty() ? std::string_view::npos : suffixes.find(whole.back());
    if (suffix == std::string_view::npos) return parse_number<std::uint64_t>(whole);
    const auto count = parse_number<std::uint64_t>(whole.substr(0, whole.size() - 1));
    const unsigned shift = 10 * (static_cast<unsigned>(suffix) + 1);
    if (!count) return std::nullopt;
    return *count > (most_elements >> shift) ? most_elements + 1 : *count << shift;
  }();
  if (!number || *number > most_elements) {
    throw UsageError(
        fmt::format("--elements '{}': give a whole number from 0 to 2^48, as 1000003, 2^28 or 64M (K, M, G: "
                    "2^10, 2^20, 2^30)",
                    text));
  }
  return *number;
}

DeviceChoice parse_device(const std::string& text) {
  constexpr std::string_view prefix = "cuda:";
  if (text == "auto") return {DeviceChoice::Kind::automatic};
  if (text == "cuda") return {DeviceChoice::Kind::cuda};
  if (text == "emulated") return {DeviceChoice::Kind::emulated};
  if (text.starts_with(prefix)) {
    const auto ordinal = parse_number<int>(std::string_view(text).substr(prefix.size()));
    if (ordinal && *ordinal >= 0) return {DeviceChoice::Kind::cuda, *ordinal};
  }
  throw UsageError(
      fmt::format("--device '{}': choose one of auto, cuda, cuda:N (N = 0, 1, ...), emulated", text));
}

emulated::Schedule parse_schedule(const std::string& text) {
  constexpr std::string_view prefix = "random:";
  if (text == "ascending") return {emulated::Order::ascending};
  if (text == "descending") return {emulated::Order::descending};
  if (text == "random") return {emulated::Order::random};
  if (text.starts_with(prefix)) {
    const auto seed = parse_number<std::uint64_t>(std::string_view(text).substr(prefix.size()));
    if (seed) return {emulated::Order::random, *seed};
  }
  throw UsageError(fmt::format(
      "--schedule '{}': choose one of ascending, descending, random, random:SEED (SEED = 0 to 2^64 - 1)",
      text));
}

std::string parse_trace_file(const std::string& text) {
  if (text.ends_with(".json") || text.ends_with(".html")) return text;
  throw UsageError(fmt::format("--trace '{}': give the name of a file that ends in .html or .json", text));
}

void parse_trace_block(const std::string& text, TraceOptions& trace) {
  const auto colon = text.find(':');
  const std::string_view whole = text;
  const auto pass =
      colon == std::string::npos ? std::size_t{1} : parse_number<std::size_t>(whole.substr(0, colon));
  const auto block = parse_number<std::size_t>(colon == std::string::npos ? whole : whole.substr(colon + 1));
  if (!pass || *pass == 0 || !block) {
    throw UsageError(
        fmt::format("--trace-block '{}': give the number of a block, as 3, or of a pass and a block, as 2:0 "
                    "(passes from 1, blocks from 0)",
                    text));
  }
  trace.pass = *pass;
  trace.block = *block;
}

void add_trace_options(TextOptions& app, TraceOptions& trace, bool& has_block) {
  app.add("--trace", "FILE", "emulated: write what one block does, as a page (.html) or for programs (.json)",
          parse_trace_file, trace.file);
  app.add("--trace-block", "[PASS:]BLOCK", "which block; default 1:0, the first of the first pass",
          [&](const std::string& text) {
            parse_trace_block(text, trace);
            has_block = true;
          });
  app.add_file("--trace-beside", "the --trace .json file of another run, for the same page",
               trace.beside_file);
}

void require_trace_file(const TraceOptions& trace, bool has_block) {
  if (trace.file.empty() && (has_block || !trace.beside_file.empty()))
    throw UsageError("--trace-block and --trace-beside need --trace FILE");
  if (!trace.beside_file.empty() && !trace.file.ends_with(".html")) {
    throw UsageError("--trace-beside needs a --trace file that ends in .html");
  }
}

namespace {

bool are_one_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return !other.empty() &&
         std::filesystem::weakly_canonical(one, error) == std::filesystem::weakly_canonical(other, error);
}

/// Refuses what a trace cannot be had with, and leaves no other choice than the device that traces.
void settle_trace(Options& options) {
  if (options.trace.file.empty()) return;
  if (are_one_file(options.trace.file, options.json_file)) {
    throw UsageError(
        fmt::format("--trace and --json both name '{}': give each a file of its own", options.trace.file));
  }
  if (options.sweep) throw UsageError("--trace is of one run: leave out --sweep");
  if (!options.emulation.counters) throw UsageError("--trace needs --counters on");
  if (options.device.kind == DeviceChoice::Kind::cuda) {
    throw UsageError("--trace is the emulated device's: leave out --device, or give --device emulated");
  }
  options.device.kind = DeviceChoice::Kind::emulated;
}

}  // namespace

std::optional<Options> parse_options(int argc, const char* const* argv, std::string_view name,
                                     std::string_view title, const Options& defaults) {
  Options options = defaults;
  TextOptions app(
      name, fmt::format("{}: {}. Sums n elements, verifies the sum and reports the bandwidth.", name, title));
  app.add_version();
  const auto parse_sweep = [](const std::string& text) { return parse_name("--sweep", text, sweep_names); };
  const auto parse_flush = [](const std::string& text) { return parse_name("--flush", text, flush_names); };
  const auto parse_queue = [](const std::string& text) { return parse_name("--queue", text, on_off_names); };
  const auto parse_warm_up = [](const std::string& text) {
    return parse_count("--warm-up", text, 1'000'000);
  };
  // All of them wait behind the kernel that holds the device, in a queue that has room for about a thousand.
  const auto parse_lead_in = [](const std::string& text) { return parse_count("--lead-in", text, 256); };
  const auto parse_counters = [](const std::string& text) {
    return parse_name("--counters", text, on_off_names);
  };
  app.add("-n,--elements", "COUNT", "how many, as 1000003, 2^28 or 64M; default 2^28 on a GPU, 2^20 emulated",
          parse_elements, options.elements);
  app.add("-t,--type", "TYPE", "int32 (default), int64, float32, float64, complex64 or complex128",
          parse_type, options.type);
  app.add("-b,--block", "THREADS",
          fmt::format("threads per block: {}; default {}", fmt::join(block_sizes, ", "), defaults.block),
          parse_block, options.block);
  app.add("-s,--samples", "COUNT", "timed runs; default: until they agree within 0.5 %, for 2 s at most",
          parse_samples, options.samples);
  app.add("--seed", "NUMBER", "of the random input; default 1", parse_seed, options.seed);
  app.add("--data", "KIND", "random (default), ones or cancelling", parse_data, options.data);
  app.add("--device", "DEVICE", "auto (default: a GPU where there is one), cuda, cuda:N or emulated",
          parse_device, options.device);
  app.add("--sweep", "AXIS", "a row for every block, size (2^10 to COUNT; default what fits) or type",
          parse_sweep, options.sweep);
  app.add("--flush", "HOW", "GPU: how the L2 is emptied before each sample: read (default), memset or none",
          parse_flush, options.timing.flush);
  app.add("--warm-up", "COUNT", "GPU: runs before the first sample; default 3", parse_warm_up,
          options.timing.warm_up_runs);
  app.add("--queue", "on|off",
          "GPU: hold the device until a sample is queued, to keep launch latency out; default on",
          parse_queue, options.timing.queued);
  app.add("--lead-in", "COUNT", "GPU: empty kernels in front of each sample; default 8", parse_lead_in,
          options.timing.lead_in);
  app.add("--counters", "on|off",
          "emulated: count and check accesses to memory; default on; docs/glossary.md says what is counted",
          parse_counters, options.emulation.counters);
  app.add("--schedule", "ORDER",
          "emulated: order of threads: ascending (default), descending or random[:SEED]", parse_schedule,
          options.emulation.schedule);
  app.add_file("--compare", "emulated: the --json file of another step, to show its counters beside",
               options.compare_file);
  bool has_trace_block = false;
  add_trace_options(app, options.trace, has_trace_block);
  app.add_file("--json", "also write the results there; - for stdout", options.json_file);
  app.add_flag("-q,--quiet", "print the result rows only", options.quiet);

  const std::string answer = app.read(argc, argv);
  if (!answer.empty()) {
    print(stdout, answer);
    return std::nullopt;
  }
  require_trace_file(options.trace, has_trace_block);
  settle_trace(options);
  return options;
}

}  // namespace reduction
