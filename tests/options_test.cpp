#include "harness/options.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace reduction {
namespace {

std::optional<Options> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "step");
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), "step", "a title");
}

/// The message that a command line is refused with; empty where it is taken.
std::string refusal(const std::vector<const char*>& arguments) {
  try {
    parse(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(ParseElements, TakesPlainNumbersPowersAndSuffixes) {
  EXPECT_EQ(parse_elements("0"), 0u);
  EXPECT_EQ(parse_elements("1000003"), 1'000'003u);
  EXPECT_EQ(parse_elements("2^28"), 268'435'456u);
  EXPECT_EQ(parse_elements("10^6"), 1'000'000u);
  EXPECT_EQ(parse_elements("2^0"), 1u);
  EXPECT_EQ(parse_elements("0^5"), 0u);
  EXPECT_EQ(parse_elements("1^4000000000"), 1u);
  EXPECT_EQ(parse_elements("64M"), 67'108'864u);
  EXPECT_EQ(parse_elements("3K"), 3072u);
  EXPECT_EQ(parse_elements("1G"), 1'073'741'824u);
  EXPECT_EQ(parse_elements("2^48"), std::uint64_t{1} << 48);
}

TEST(ParseElements, RefusesEverythingElse) {
  for (const char* text : {"",     "-1", "abc", "1e6",  "1e400", "2^99", "2^49",    "3^31",
                           "2^-1", "^3", "2^",  "1.5",  "12Q",   "K",    "300000G", "99999999999999999999",
                           " 1",   "1 ", "+1",  "0x10", "2^2^2"}) {
    EXPECT_THROW(parse_elements(text), UsageError) << "'" << text << "'";
  }
}

TEST(ParseDevice, TakesTheFourForms) {
  EXPECT_EQ(parse_device("auto").kind, DeviceChoice::Kind::automatic);
  EXPECT_EQ(parse_device("emulated").kind, DeviceChoice::Kind::emulated);
  EXPECT_EQ(parse_device("cuda").ordinal, 0);
  EXPECT_EQ(parse_device("cuda:7").ordinal, 7);
  for (const char* text : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "CUDA", "cuda:1 "}) {
    EXPECT_THROW(parse_device(text), UsageError) << "'" << text << "'";
  }
}

TEST(ParseTrace, TakesAFileAndABlock) {
  const auto options =
      parse({"--trace", "conflict.html", "--trace-block", "2:7", "--trace-beside", "02.json"});
  EXPECT_EQ(options->trace.file, "conflict.html");
  EXPECT_EQ(options->trace.pass, 2u);
  EXPECT_EQ(options->trace.block, 7u);
  EXPECT_EQ(options->trace.beside_file, "02.json");
  EXPECT_EQ(parse({"--trace", "x.json", "--trace-block", "3"})->trace.pass, 1u);
  EXPECT_EQ(parse({"--trace", "x.json", "--trace-block", "3"})->trace.block, 3u);
}

TEST(ParseTrace, LeavesTheDeviceThatTraces) {
  EXPECT_EQ(parse({"--trace", "x.json"})->device.kind, DeviceChoice::Kind::emulated);
  EXPECT_EQ(parse({"-q"})->device.kind, DeviceChoice::Kind::automatic);
}

TEST(ParseTrace, RefusesEverythingElse) {
  for (const char* file : {"", "-", "conflict", "conflict.txt", "html", "x.HTML"})
    EXPECT_NE(refusal({"--trace", file}).find("ends in .html or .json"), std::string::npos) << file;
  for (const char* block : {"", "-1", "x", "0:0", ":1", "1:", "1:2:3", "1 ", "18446744073709551616"})
    EXPECT_NE(refusal({"--trace", "x.json", "--trace-block", block}).find("--trace-block"), std::string::npos)
        << block;
  EXPECT_NE(refusal({"--trace-block", "1"}).find("need --trace"), std::string::npos);
  EXPECT_NE(refusal({"--trace-block", "0"}).find("need --trace"), std::string::npos);
  EXPECT_NE(refusal({"--trace-beside", "x.json"}).find("need --trace"), std::string::npos);
  EXPECT_NE(refusal({"--trace", "x.json", "--trace-beside", "y.json"}).find(".html"), std::string::npos);
  EXPECT_NE(refusal({"--trace", "x.json", "--sweep", "type"}).find("--sweep"), std::string::npos);
  EXPECT_NE(refusal({"--trace", "x.json", "--counters", "off"}).find("--counters"), std::string::npos);
  EXPECT_NE(refusal({"--trace", "x.json", "--device", "cuda"}).find("--device"), std::string::npos);
}

TEST(ParseSchedule, TakesAnOrderAndASeed) {
  EXPECT_EQ(parse_schedule("ascending").order, emulated::Order::ascending);
  EXPECT_EQ(parse_schedule("descending").order, emulated::Order::descending);
  EXPECT_EQ(parse_schedule("random").order, emulated::Order::random);
  EXPECT_EQ(parse_schedule("random:77").seed, 77u);
  for (const char* text : {"", "Random", "random:", "random:x", "ascending:1"}) {
    EXPECT_THROW(parse_schedule(text), UsageError) << "'" << text << "'";
  }
}

TEST(ParseOptions, HasTheDocumentedDefaults) {
  const auto options = parse({});
  ASSERT_TRUE(options);
  EXPECT_FALSE(options->elements);
  EXPECT_EQ(options->type, ElementType::int32);
  EXPECT_EQ(options->block, 256u);
  EXPECT_FALSE(options->samples);
  EXPECT_EQ(options->timing.flush, Flush::read);
  EXPECT_EQ(options->timing.warm_up_runs, 3u);
  EXPECT_TRUE(options->timing.queued);
  EXPECT_EQ(options->data, Data::random);
  EXPECT_EQ(options->device.kind, DeviceChoice::Kind::automatic);
  EXPECT_FALSE(options->sweep);
  EXPECT_FALSE(options->quiet);
}

TEST(ParseOptions, HasTheStepsDefaults) {
  Options defaults;
  defaults.block = 1024;
  const std::array none{"step"};
  const auto options = parse_options(1, none.data(), "step", "a title", defaults);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->block, 1024u);
}

TEST(ParseOptions, TakesEveryOption) {
  const auto options = parse({"-n",          "2^10",       "--type",
                              "complex128",  "-b",         "64",
                              "--samples=7", "--seed",     "18446744073709551615",
                              "--data",      "cancelling", "--device",
                              "cuda:1",      "--sweep",    "type",
                              "--flush",     "memset",     "--warm-up",
                              "0",           "--queue",    "off",
                              "--lead-in",   "3",          "--json",
                              "x.json",      "--quiet"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->elements, 1024u);
  EXPECT_EQ(options->type, ElementType::complex128);
  EXPECT_EQ(options->block, 64u);
  EXPECT_EQ(options->samples, 7u);
  EXPECT_EQ(options->seed, ~std::uint64_t{0});
  EXPECT_EQ(options->data, Data::cancelling);
  EXPECT_EQ(options->device.kind, DeviceChoice::Kind::cuda);
  EXPECT_EQ(options->device.ordinal, 1);
  EXPECT_EQ(options->sweep, Sweep::type);
  EXPECT_EQ(options->timing.flush, Flush::memset);
  EXPECT_EQ(options->timing.warm_up_runs, 0u);
  EXPECT_FALSE(options->timing.queued);
  EXPECT_EQ(options->timing.lead_in, 3u);
  EXPECT_EQ(options->json_file, "x.json");
  EXPECT_TRUE(options->quiet);
}

TEST(ParseOptions, AnOptionIsThereOnce) {
  EXPECT_EQ(refusal({"-n", "1", "--elements", "1"}), "-n is there 2 times; give it once");
  EXPECT_EQ(refusal({"-q", "-q"}), "-q is there 2 times; give it once");
  EXPECT_EQ(refusal({"-n5", "-n6"}), "-n is there 2 times; give it once");
  EXPECT_EQ(refusal({"-qn5", "--elements", "6"}), "-n is there 2 times; give it once");
  EXPECT_EQ(refusal({"-qq"}), "-q is there 2 times; give it once");
}

TEST(ParseOptions, RefusalsAreOneLineThatNamesOptionValueAndWhatIsAllowed) {
  const std::vector<std::pair<std::vector<const char*>, std::vector<std::string>>> cases{
      {{"-n", "-1"}, {"--elements", "'-1'", "2^48"}},
      {{"-n", "2^99"}, {"--elements", "'2^99'", "2^48"}},
      {{"-n", "abc"}, {"--elements", "'abc'", "64M"}},
      {{"-n", "1e400"}, {"--elements", "'1e400'", "1000003"}},
      {{"-b", "48"}, {"--block", "'48'", "32, 64, 128, 256, 512, 1024"}},
      {{"-b", "2048"}, {"--block", "'2048'", "1024"}},
      {{"-b", "16"}, {"--block", "'16'", "32"}},
      {{"-t", "int8"}, {"--type", "'int8'", "int32, int64, float32, float64, complex64, complex128"}},
      {{"--data", "zeros"}, {"--data", "'zeros'", "random, ones, cancelling"}},
      {{"--device", "gpu"}, {"--device", "'gpu'", "cuda:N"}},
      {{"--samples", "0"}, {"--samples", "'0'", "from 1"}},
      {{"--seed", "x"}, {"--seed", "'x'", "2^64 - 1"}},
      {{"--sweep", "colour"}, {"--sweep", "'colour'", "block, size, type"}},
      {{"--flush", "write"}, {"--flush", "'write'", "read, memset, none"}},
      {{"--warm-up", "-1"}, {"--warm-up", "'-1'", "0 to 1000000"}},
      {{"--lead-in", "257"}, {"--lead-in", "'257'", "0 to 256"}},
      {{"--queue", "1"}, {"--queue", "'1'", "on, off"}},
      {{"--counters", "maybe"}, {"--counters", "'maybe'", "on, off"}},
      {{"--schedule", "random:-1"}, {"--schedule", "'random:-1'", "random:SEED"}},
      {{"--frobnicate"}, {"--frobnicate", "--help"}},
      {{"stray"}, {"stray", "--help"}},
      {{"-n"}, {"-n needs", "--help"}},
      {{"--elements"}, {"--elements needs", "--help"}},
      {{"-n", "-q"}, {"-n needs a value"}},
      {{"-qn"}, {"-n needs a value"}},
      {{"-qn", "--json", "x"}, {"-n needs a value"}},
      {{"-n5", "-q=5"}, {"-q takes no value"}},
      {{"-qx"}, {"'-x' is not known here"}},
      {{"--json", "--quiet"}, {"--json needs a value"}},
      {{"--compare", "--json=x"}, {"--compare needs a value"}},
      {{"--json="}, {"--json needs a value"}},
      {{"--json=", "-q"}, {"--json needs a value"}},
      {{"-n", "1", "--json=", "x"}, {"--json needs a value"}},
      {{"--quiet=false"}, {"--quiet takes no value", "--help"}},
      {{"--quiet="}, {"--quiet takes no value", "--help"}},
      {{"--"}, {"'--'", "--help"}},
      {{"-q", "--", "-n"}, {"'--'", "--help"}},
  };
  for (const auto& [arguments, expected] : cases) {
    const std::string message = refusal(arguments);
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& part : expected) {
      EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
    }
  }
}

TEST(ParseOptions, AFileHasAName) {
  for (const std::string option : {"--json", "--compare", "--trace-beside"})
    EXPECT_EQ(refusal({option.c_str(), ""}), option + " needs the name of a file");
}

TEST(ParseOptions, HelpAndVersionRunNothing) {
  EXPECT_FALSE(parse({"--help"}));
  EXPECT_FALSE(parse({"--version"}));
}

}  // namespace
}  // namespace reduction
