#include "harness/json_report.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace reduction {
namespace {

template <typename Real> Result result_of(ElementType type, Real first, Real second = Real{}) {
  Result result;
  result.step = "03_sequential";
  result.device.kind = DeviceKind::cuda;
  result.device.peak_gbps = 1000.0;
  result.type = type;
  result.input = {Data::random, 1, 1'000'000};
  result.block = 256;
  result.passes = {{1'000'000, 3907}, {3907, 16}, {16, 1}};
  result.value.type = type;
  result.expected.type = type;
  std::memcpy(result.value.bytes.data(), &first, sizeof(Real));
  std::memcpy(result.value.bytes.data() + sizeof(Real), &second, sizeof(Real));
  return result;
}

TEST(ToJson, HasTheDocumentedKeys) {
  Result result = result_of<std::int32_t>(ElementType::int32, -17);
  result.samples = 3;
  result.ms = Summary{0.01, 0.008, 0.012, 0.007};
  result.timing = TimingMethod{Flush::memset, 0, false, 3};
  result.verdict = {true, 0, 0};
  const auto json = to_json(result);
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items())
    keys.push_back(key);
  EXPECT_EQ(
      keys,
      (std::vector<std::string>{
          "step",      "title",        "device", "type", "elements",        "block",  "grid",     "samples",
          "ms",        "first_run_ms", "timing", "gbps", "percent_of_peak", "result", "expected", "error",
          "tolerance", "verified",     "data",   "seed", "version",         "passes", "counters"}));
  EXPECT_EQ(json["timing"]["flush"], "memset");
  EXPECT_EQ(json["timing"]["warm_up"], 0);
  EXPECT_EQ(json["timing"]["queued"], false);
  EXPECT_EQ(json["timing"]["lead_in"], 3);
  EXPECT_EQ(json["result"], -17);
  EXPECT_EQ(json["grid"], 3907);
  EXPECT_EQ(json["passes"].size(), 3u);
  EXPECT_DOUBLE_EQ(json["gbps"].get<double>(), 400.0);
  EXPECT_DOUBLE_EQ(json["percent_of_peak"].get<double>(), 40.0);
  EXPECT_TRUE(json["counters"].is_null());
}

TEST(ToJson, WritesTimesAndErrorsUnderTheirOwnNames) {
  Result result = result_of<float>(ElementType::float32, 1.5f);
  result.ms = Summary{.median = 0.01, .p5 = 0.008, .p95 = 0.012, .minimum = 0.007};
  result.first_run_ms = 0.5;
  result.verdict = {true, 0.25, 0.75};
  const float expected = 2.5f;
  std::memcpy(result.expected.bytes.data(), &expected, sizeof(expected));
  const auto json = to_json(result);
  EXPECT_EQ(json["ms"].dump(), R"({"median":0.01,"p5":0.008,"p95":0.012,"min":0.007})");
  EXPECT_EQ(json["first_run_ms"], 0.5);
  EXPECT_EQ(json["result"], 1.5);
  EXPECT_EQ(json["expected"], 2.5);
  EXPECT_EQ(json["error"], 0.25);
  EXPECT_EQ(json["tolerance"], 0.75);
  EXPECT_EQ(json["verified"], true);
}

TEST(ToJson, HasNoTimeWhereThereIsNone) {
  const auto json = to_json(result_of<float>(ElementType::float32, 1.5f));
  EXPECT_TRUE(json["ms"].is_null());
  EXPECT_TRUE(json["timing"].is_null());
  EXPECT_TRUE(json["gbps"].is_null());
  EXPECT_TRUE(json["percent_of_peak"].is_null());
  EXPECT_EQ(json["result"], 1.5);
}

TEST(ToJson, WritesWhatADoubleCannotHoldAsText) {
  EXPECT_EQ(to_json(result_of<std::int64_t>(ElementType::int64, (std::int64_t{1} << 53) + 1))["result"],
            "9007199254740993");
  EXPECT_EQ(to_json(result_of<std::int64_t>(ElementType::int64,
                                            std::numeric_limits<std::int64_t>::min()))["result"],
            "-9223372036854775808");
  EXPECT_EQ(to_json(result_of<std::int64_t>(ElementType::int64, -5))["result"], -5);
  EXPECT_EQ(
      to_json(result_of<float>(ElementType::float32, std::numeric_limits<float>::quiet_NaN()))["result"],
      "nan");
}

TEST(ToJson, WritesComplexNumbersAsPairs) {
  const auto json = to_json(result_of<double>(ElementType::complex128, 1.0, -2.0));
  EXPECT_EQ(json["result"].dump(), "[1.0,-2.0]");
}

TEST(ToJson, WritesALargeSeedAsText) {
  Result result = result_of<float>(ElementType::float32, 1.0f);
  result.input.seed = ~std::uint64_t{0};
  EXPECT_EQ(to_json(result)["seed"], "18446744073709551615");
}

}  // namespace
}  // namespace reduction
