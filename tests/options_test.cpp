#include "harness/options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace reduction {
namespace {

Options parse(const std::vector<std::string>& arguments, const Options& defaults = {}) {
  std::vector<const char*> words{"step"};
  for (const std::string& argument : arguments)
    words.push_back(argument.c_str());
  return parse_options(static_cast<int>(words.size()), words.data(), "step", "a title", defaults);
}

/// The message that a command line is refused with; empty where it is taken.
std::string refusal(const std::vector<std::string>& arguments) {
  try {
    parse(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(ParseOptions, TakesNumbersPowersAndSuffixesOfElements) {
  const std::vector<std::pair<const char*, std::uint64_t>> cases{
      {"0", 0},          {"1000003", 1'000'003},
      {"010", 10},       {"2^28", 268'435'456},
      {"10^6", 1000000}, {"2^0", 1},
      {"0^5", 0},        {"1^4000000000", 1},
      {"3K", 3072},      {"64M", 67'108'864},
      {"1G", 1 << 30},   {"2^48", std::uint64_t{1} << 48}};
  for (const auto& [text, elements] : cases)
    EXPECT_EQ(parse({"-n", text}).elements, elements) << text;
}

TEST(ParseOptions, HasTheDocumentedDefaults) {
  const Options options = parse({});
  EXPECT_FALSE(options.elements);
  EXPECT_EQ(options.type, ElementType::int32);
  EXPECT_EQ(options.block, 256u);
  EXPECT_FALSE(options.grid);
  EXPECT_FALSE(options.samples);
  EXPECT_EQ(options.timing.flush, Flush::read);
  EXPECT_EQ(options.timing.warm_up_runs, 3u);
  EXPECT_TRUE(options.timing.queued);
  EXPECT_EQ(options.timing.lead_in, 8u);
  EXPECT_EQ(options.timing.back_to_back, 1u);
  EXPECT_EQ(options.seed, 1u);
  EXPECT_EQ(options.data, Data::random);
  EXPECT_EQ(options.device.kind, DeviceChoice::Kind::automatic);
  EXPECT_TRUE(options.emulation.counters);
  EXPECT_EQ(options.emulation.schedule.order, __emulated::Order::ascending);
  EXPECT_FALSE(options.sweep);
  EXPECT_FALSE(options.quiet);
  EXPECT_EQ(options.answer, "");
  Options of_a_step;
  of_a_step.block = 1024;
  EXPECT_EQ(parse({}, of_a_step).block, 1024u);
}

TEST(ParseOptions, TakesEveryOption) {
  const Options options = parse({"-n2^10",     "--type",      "complex128", "-b",
                                 "64",         "--samples=7", "--seed",     "18446744073709551615",
                                 "--data",     "cancelling",  "--device",   "cuda:1",
                                 "--sweep",    "type",        "--flush",    "memset",
                                 "--warm-up",  "0",           "--queue",    "off",
                                 "--lead-in",  "256",         "--counters", "off",
                                 "--schedule", "random:77",   "--compare",  "y.json",
                                 "--json",     "x.json",      "--quiet"});
  EXPECT_EQ(options.elements, 1024u);
  EXPECT_EQ(options.type, ElementType::complex128);
  EXPECT_EQ(options.block, 64u);
  EXPECT_EQ(options.samples, 7u);
  EXPECT_EQ(options.seed, ~std::uint64_t{0});
  EXPECT_EQ(options.data, Data::cancelling);
  EXPECT_EQ(options.device.kind, DeviceChoice::Kind::cuda);
  EXPECT_EQ(options.device.ordinal, 1);
  EXPECT_EQ(options.sweep, Sweep::type);
  EXPECT_EQ(options.timing.flush, Flush::memset);
  EXPECT_EQ(options.timing.warm_up_runs, 0u);
  EXPECT_FALSE(options.timing.queued);
  EXPECT_EQ(options.timing.lead_in, 256u);
  EXPECT_FALSE(options.emulation.counters);
  EXPECT_EQ(options.emulation.schedule.order, __emulated::Order::random);
  EXPECT_EQ(options.emulation.schedule.seed, 77u);
  EXPECT_EQ(options.compare_file, "y.json");
  EXPECT_EQ(options.json_file, "x.json");
  EXPECT_TRUE(options.quiet);
  EXPECT_EQ(parse({"--grid", "2^9"}).grid, 512u);
  EXPECT_EQ(parse({"--back-to-back", "100"}).timing.back_to_back, 100u);
}

TEST(ParseOptions, TakesATraceAndLeavesTheDeviceThatTraces) {
  const Options options =
      parse({"--trace", "conflict.html", "--trace-block", "2:7", "--trace-beside", "02.json"});
  EXPECT_EQ(options.trace.file, "conflict.html");
  EXPECT_EQ(options.trace.pass, 2u);
  EXPECT_EQ(options.trace.block, 7u);
  EXPECT_EQ(options.trace.beside_file, "02.json");
  EXPECT_EQ(options.device.kind, DeviceChoice::Kind::emulated);
  EXPECT_EQ(parse({"--trace", "x.json", "--trace-block", "3"}).trace.pass, 1u);
  EXPECT_EQ(parse({"--trace", "x.json", "--trace-block", "3"}).trace.block, 3u);
}

TEST(ParseOptions, RefusesAValueThatIsNotAllowedAndSaysWhatIs) {
  struct Case {
    const char* option;
    const char* allowed;
    std::vector<std::string> texts;
  };
  const std::vector<Case> cases{
      {"--elements",
       "give a whole number from 0 to 2^48, as 1000003, 2^28 or 64M (K, M, G: 2^10, 2^20, 2^30)",
       {"",     "-1", "abc", "1e6",  "1e400", "2^99", "2^49",    "3^31",
        "2^-1", "^3", "2^",  "1.5",  "12Q",   "K",    "300000G", "99999999999999999999",
        " 1",   "1 ", "+1",  "0x10", "2^2^2", "-q",   "--quiet"}},
      {"--type",
       "choose one of int32, int64, float32, float64, complex64, complex128",
       {"", "0", "int8", "INT32", "int32,int64"}},
      {"--block", "choose one of 32, 64, 128, 256, 512, 1024", {"0", "16", "48", "2048", "2^5"}},
      {"--samples", "give a whole number from 1 to 1000000", {"0", "1000001", "x", "-1"}},
      {"--seed", "give a whole number from 0 to 2^64 - 1", {"", "x", "-1", "18446744073709551616"}},
      {"--data", "choose one of random, ones, cancelling", {"", "zeros"}},
      {"--device",
       "choose one of auto, cuda, cuda:N (N = 0, 1, ...), emulated",
       {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "CUDA", "cuda:1 ", "cuda:2147483648"}},
      {"--sweep", "choose one of block, size, type", {"", "colour"}},
      {"--flush", "choose one of read, memset, none", {"", "write"}},
      {"--warm-up", "give a whole number from 0 to 1000000", {"-1", "1000001"}},
      {"--queue", "choose one of on, off", {"", "1"}},
      {"--lead-in", "give a whole number from 0 to 256", {"257", "4294967297"}},
      {"--back-to-back", "give a whole number from 1 to 256", {"0", "257"}},
      {"--grid", "give a whole number from 1 to 2^31 - 1, as 1056 or 2^15", {"0", "2^31", "x"}},
      {"--counters", "choose one of on, off", {"maybe"}},
      {"--schedule",
       "choose one of ascending, descending, random, random:SEED (SEED = 0 to 2^64 - 1)",
       {"", "Random", "random:", "random:x", "random:-1", "ascending:1"}},
      {"--trace",
       "give the name of a file that ends in .html or .json",
       {"conflict", "x.txt", "html", "x.HTML"}},
      {"--trace-block",
       "give the number of a block, as 3, or of a pass and a block, as 2:0 (passes from 1, blocks from 0)",
       {"", "-1", "x", "0:0", ":1", "1:", "1:2:3", "1 ", "18446744073709551616"}},
  };
  for (const auto& [option, allowed, texts] : cases) {
    for (const std::string& text : texts) {
      const std::string expected = std::string(option) + " '" + text + "': " + allowed;
      EXPECT_EQ(refusal({option, text}), expected);
      // Whoever asks for help is told of it, too.
      EXPECT_EQ(refusal({"--help", option, text}), expected);
    }
  }
  for (const std::string option : {"--json", "--compare", "--trace", "--trace-beside"}) {
    for (const std::string text : {"", "-x", "--quiet", "--json=x.json"})
      EXPECT_EQ(refusal({option, text}),
                option + " '" + text + "': give the name of a file, as ./-x if it begins with -");
  }
}

TEST(ParseOptions, RefusesALineThatCannotBeRead) {
  const std::string help = " (--help lists what is allowed)";
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--frobnicate"}, "'--frobnicate' is not known here" + help},
      {{"stray", "-q"}, "'stray' is not known here" + help},
      {{"-qx"}, "'-x' is not known here" + help},
      {{"-q", "--", "-n"}, "'-n' is not known here" + help},
      {{"-n"}, "--elements: 1 required COUNT missing" + help},
      {{"-n5", "-n", "6"}, "--elements: At Most 1 required but received 2" + help},
      {{"-qq"}, "--quiet: At Most 1 required but received 2" + help},
      {{"--trace-block", "0"}, "--trace-block and --trace-beside need --trace FILE"},
      {{"--trace", "x.json", "--trace-beside", "y.json"},
       "--trace-beside needs a --trace file that ends in .html"},
      {{"--trace", "x.json", "--json", "./x.json"},
       "--trace and --json both name 'x.json': give each a file of its own"},
      {{"--trace", "x.json", "--sweep", "type"}, "--trace is of one run: leave out --sweep"},
      {{"--trace", "x.json", "--counters", "off"}, "--trace needs --counters on"},
      {{"--trace", "x.json", "--device", "cuda"},
       "--trace is the emulated device's: leave out --device, or give --device emulated"},
  };
  for (auto [arguments, expected] : cases) {
    EXPECT_EQ(refusal(arguments), expected);
    // Whoever asks for help is told of it, too.
    arguments.insert(arguments.begin(), "--help");
    EXPECT_EQ(refusal(arguments), expected);
  }
}

TEST(ParseOptions, AnswersHelpAndVersion) {
  EXPECT_TRUE(parse({"-n", "64", "--help", "-q"}).answer.starts_with("step: a title. Sums n elements"));
  EXPECT_TRUE(parse({"--version"}).answer.starts_with("step "));
}

}  // namespace
}  // namespace reduction
