#include "harness/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <climits>
#include <filesystem>

#include "harness/terminal.hpp"
#include "harness/version.hpp"

namespace reduction {

namespace {

constexpr std::uint64_t most_elements = std::uint64_t{1} << 48;
constexpr std::uint64_t most_of_64_bits = ~std::uint64_t{0};

constexpr std::size_t help_width = 80;
constexpr std::size_t help_indent = 30;  // CLI11's

std::string folded(const std::string& help, std::size_t width = help_width - help_indent) {
  return fmt::format("{}", fmt::join(fold(help, width), "\n"));
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t least = 0,
                                          std::uint64_t most = most_of_64_bits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  return is_number && number >= least && number <= most ? std::optional(number) : std::nullopt;
}

std::optional<std::uint64_t> parse_elements(std::string_view text) {
  if (const auto caret = text.find('^'); caret != std::string_view::npos) {
    const auto base = parse_number(text.substr(0, caret));
    const auto exponent = parse_number(text.substr(caret + 1));
    if (!base || !exponent) return std::nullopt;
    std::uint64_t power = 1;
    // A base of 0 or 1 stays what it is. Any other is soon above the limit, which ends the loop.
    for (std::uint64_t k = 0; k < *exponent && k < 64; ++k) {
      if (*base != 0 && power > most_elements / *base) return std::nullopt;
      power *= *base;
    }
    return power;
  }
  const unsigned shift = text.ends_with('K') ? 10 : text.ends_with('M') ? 20 : text.ends_with('G') ? 30 : 0;
  if (shift > 0) text.remove_suffix(1);
  const auto count = parse_number(text, 0, most_elements >> shift);
  return count ? std::optional(*count << shift) : std::nullopt;
}

std::optional<std::uint64_t> parse_grid(std::string_view text) {
  const auto blocks = parse_elements(text);
  return blocks && *blocks >= 1 && *blocks <= INT_MAX ? blocks : std::nullopt;
}

std::optional<DeviceChoice> parse_device(std::string_view text) {
  constexpr std::string_view prefix = "cuda:";
  if (text == "auto") return DeviceChoice{DeviceChoice::Kind::automatic};
  if (text == "cuda") return DeviceChoice{DeviceChoice::Kind::cuda};
  if (text == "emulated") return DeviceChoice{DeviceChoice::Kind::emulated};
  if (!text.starts_with(prefix)) return std::nullopt;
  const auto ordinal = parse_number(text.substr(prefix.size()), 0, INT_MAX);
  if (!ordinal) return std::nullopt;
  return DeviceChoice{DeviceChoice::Kind::cuda, static_cast<int>(*ordinal)};
}

/// Reads "ascending", "descending", "random" or "random:7".
std::optional<__emulated::Schedule> parse_schedule(std::string_view text) {
  constexpr std::string_view prefix = "random:";
  if (text == "ascending") return __emulated::Schedule{__emulated::Order::ascending};
  if (text == "descending") return __emulated::Schedule{__emulated::Order::descending};
  if (text == "random") return __emulated::Schedule{__emulated::Order::random};
  if (!text.starts_with(prefix)) return std::nullopt;
  const auto seed = parse_number(text.substr(prefix.size()));
  if (!seed) return std::nullopt;
  return __emulated::Schedule{__emulated::Order::random, *seed};
}

void add_trace_options(OptionParser& app, TraceOptions& trace) {
  app.add_file("--trace", "emulated: write what one block does, as a page (.html) or for programs (.json)",
               trace.file);
  const Reader<bool> block_reader{
      [&trace](const std::string& text) {
        const auto colon = text.find(':');
        const auto pass = colon == std::string::npos ? 1 : parse_number(text.substr(0, colon), 1);
        const auto block = parse_number(text.substr(colon + 1));
        trace.pass = pass.value_or(1);
        trace.block = block.value_or(0);
        return pass && block ? std::optional(true) : std::nullopt;
      },
      "give the number of a block, as 3, or of a pass and a block, as 2:0 (passes from 1, blocks from 0)"};
  app.add("--trace-block", "[PASS:]BLOCK", "which block; default that of a finding, or 1:0", trace.has_block,
          block_reader);
  app.add_file("--trace-beside", "the --trace .json file of another run, for the same page",
               trace.beside_file);
}

/// Refuses options that no trace can be had with, and chooses the device that traces.
void settle_trace(Options& options) {
  const TraceOptions& trace = options.trace;
  if (trace.file.empty()) {
    if (trace.has_block || !trace.beside_file.empty())
      throw UsageError("--trace-block and --trace-beside need --trace FILE");
    return;
  }
  if (!trace.file.ends_with(".json") && !trace.file.ends_with(".html")) {
    throw UsageError(
        fmt::format("--trace '{}': give the name of a file that ends in .html or .json", trace.file));
  }
  if (!trace.beside_file.empty() && !trace.file.ends_with(".html"))
    throw UsageError("--trace-beside needs a --trace file that ends in .html");
  const auto normal = [](const std::string& file) { return std::filesystem::path(file).lexically_normal(); };
  if (normal(trace.file) == normal(options.json_file)) {
    throw UsageError(
        fmt::format("--trace and --json both name '{}': give each a file of its own", trace.file));
  }
  if (options.sweep) throw UsageError("--trace is of one run: leave out --sweep");
  if (!options.emulation.counters) throw UsageError("--trace needs --counters on");
  if (options.device.kind == DeviceChoice::Kind::cuda)
    throw UsageError("--trace is the emulated device's: leave out --device, or give --device emulated");
  options.device.kind = DeviceChoice::Kind::emulated;
}

}  // namespace

Reader<std::uint64_t> number(std::uint64_t least, std::uint64_t most) {
  return {[=](const std::string& text) { return parse_number(text, least, most); },
          fmt::format("give a whole number from {} to {}", least,
                      most == most_of_64_bits ? "2^64 - 1" : std::to_string(most))};
}

Reader<std::uint64_t> samples_reader() { return number(1, 1'000'000); }
Reader<std::uint64_t> seed_reader() { return number(0, most_of_64_bits); }

Reader<ElementType> type_reader() {
  std::vector<std::pair<std::string, ElementType>> names;
  for (const ElementType type : element_types)
    names.emplace_back(to_string(type), type);
  return one_of(names);
}

Reader<Data> data_reader() {
  return one_of<Data>({{"random", Data::random}, {"ones", Data::ones}, {"cancelling", Data::cancelling}});
}

Reader<std::uint64_t> elements_reader() {
  return {parse_elements,
          "give a whole number from 0 to 2^48, as 1000003, 2^28 or 64M (K, M, G: 2^10, 2^20, 2^30)"};
}

Reader<DeviceChoice> device_reader() {
  return {parse_device, "choose one of auto, cuda, cuda:N (N = 0, 1, ...), emulated"};
}

OptionParser::OptionParser(const std::string& program, const std::string& description)
    : app_(std::make_shared<CLI::App>(folded(description, help_width), program)) {}

void OptionParser::add_version() {
  app_->set_version_flag("--version", fmt::format("{} {}", app_->get_name(), version));
}

void OptionParser::add_text(const char* flags, const char* placeholder, const std::string& help,
                            const std::string& allowed, std::function<bool(const std::string&)> take) {
  const auto take_or_refuse = [=, name = std::string(flags)](const std::string& text) {
    if (!take(text))
      throw UsageError(fmt::format("{} '{}': {}", name.substr(name.find(',') + 1), text, allowed));
  };
  app_->add_option_function<std::string>(flags, take_or_refuse, folded(help))->type_name(placeholder);
}

void OptionParser::add_file(const char* flag, const std::string& help, std::string& target) {
  // CLI11 takes the next option for a value that was forgotten.
  const auto read = [](const std::string& text) {
    return text.empty() || (text[0] == '-' && text != "-") ? std::nullopt : std::optional(text);
  };
  add(flag, "FILE", help, target,
      Reader<std::string>{read, "give the name of a file, as ./-x if it begins with -"});
}

void OptionParser::add_flag(const char* flags, const std::string& help, bool& target) {
  app_->add_flag(flags, target, folded(help))
      ->disable_flag_override()
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

void OptionParser::add_arguments(const char* name, const std::string& help,
                                 std::vector<std::string>& target) {
  app_->add_option(name, target, folded(help))->required();
}

std::string OptionParser::read(int argc, const char* const* argv) {
  std::string answer;
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    answer = app_->help();
  } catch (const CLI::CallForVersion& request) {
    answer = fmt::format("{}\n", request.what());
  } catch (const CLI::ExtrasError&) {  // said below
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{} (--help lists what is allowed)", error.what()));
  }
  for (const std::string& word : app_->remaining()) {
    if (word != "--")
      throw UsageError(fmt::format("'{}' is not known here (--help lists what is allowed)", word));
  }
  return answer;
}

Options parse_options(int argc, const char* const* argv, std::string_view name, std::string_view title,
                      const Options& defaults, const std::function<void(OptionParser&)>& add_own) {
  Options options = defaults;
  OptionParser app(
      std::string(name),
      fmt::format("{}: {}. Sums n elements, verifies the sum and reports the bandwidth.", name, title));
  app.add_version();
  std::vector<std::pair<std::string, unsigned>> blocks;
  for (const unsigned block : block_sizes)
    blocks.emplace_back(std::to_string(block), block);
  const auto on_off = one_of<bool>({{"on", true}, {"off", false}});
  app.add("-n,--elements", "COUNT", "how many, as 1000003, 2^28 or 64M; default 2^28 on a GPU, 2^20 emulated",
          options.elements, elements_reader());
  app.add("-t,--type", "TYPE", "int32 (default), int64, float32, float64, complex64 or complex128",
          options.type, type_reader());
  app.add("-b,--block", "THREADS",
          fmt::format("threads per block: {}; default {}", fmt::join(block_sizes, ", "), defaults.block),
          options.block, one_of(blocks));
  app.add("--grid", "BLOCKS",
          "of the first pass, where a grid-stride loop takes any number; default the step's", options.grid,
          Reader<std::uint64_t>{parse_grid, "give a whole number from 1 to 2^31 - 1, as 1056 or 2^15"});
  app.add("-s,--samples", "COUNT", "timed runs; default: until they agree within 0.5 %, for 2 s at most",
          options.samples, samples_reader());
  app.add("--seed", "NUMBER", "of the random input; default 1", options.seed, seed_reader());
  app.add("--data", "KIND", "random (default), ones or cancelling", options.data, data_reader());
  app.add("--device", "DEVICE", "auto (default: a GPU where there is one), cuda, cuda:N or emulated",
          options.device, device_reader());
  app.add("--sweep", "AXIS", "a row for every block, size (2^10 to COUNT; default what fits) or type",
          options.sweep,
          one_of<Sweep>({{"block", Sweep::block}, {"size", Sweep::size}, {"type", Sweep::type}}));
  app.add("--flush", "HOW", "GPU: how the L2 is emptied before each sample: read (default), memset or none",
          options.timing.flush,
          one_of<Flush>({{"read", Flush::read}, {"memset", Flush::memset}, {"none", Flush::none}}));
  app.add("--warm-up", "COUNT", "GPU: runs before the first sample; default 3", options.timing.warm_up_runs,
          number(0, 1'000'000));
  app.add("--queue", "on|off",
          "GPU: hold the device until a sample is queued, to keep launch latency out; default on",
          options.timing.queued, on_off);
  // All of them wait behind the kernel that holds the device, in a queue that has room for about a thousand.
  app.add("--lead-in", "COUNT", "GPU: empty kernels in front of each sample; default 8",
          options.timing.lead_in, number(0, 256));
  app.add("--back-to-back", "COUNT", "GPU: reductions in a sample, whose time is their mean; default 1",
          options.timing.back_to_back, number(1, 256));
  app.add("--counters", "on|off",
          "emulated: count and check accesses to memory; default on; docs/glossary.md says what is counted",
          options.emulation.counters, on_off);
  app.add(
      "--schedule", "ORDER", "emulated: order of threads: ascending (default), descending or random[:SEED]",
      options.emulation.schedule,
      Reader<__emulated::Schedule>{
          parse_schedule, "choose one of ascending, descending, random, random:SEED (SEED = 0 to 2^64 - 1)"});
  app.add_file("--compare", "emulated: the --json file of another step, to show its counters beside",
               options.compare_file);
  add_trace_options(app, options.trace);
  app.add_file("--json", "also write the results there; - for stdout", options.json_file);
  app.add_flag("-q,--quiet", "print the result rows only", options.quiet);

  add_own(app);

  options.answer = app.read(argc, argv);
  settle_trace(options);
  return options;
}

}  // namespace reduction
