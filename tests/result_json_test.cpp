#include "harness/result_json.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/options.hpp"
#include "temporary_path.hpp"

namespace reduction {
namespace {

using Json = nlohmann::ordered_json;

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

/// Of any version.
std::string text_of(const Result& result) {
  Json json = result;
  EXPECT_EQ(json.erase("version"), 1U);
  return json.dump();
}

TEST(ToJson, HasTheDocumentedKeysInOrder) {
  Result result = result_of<float>(ElementType::float32, 1.5f);
  result.samples = 3;
  result.ms = Summary{.median = 0.01, .p5 = 0.008, .p95 = 0.012, .minimum = 0.007};
  result.first_run_ms = 0.5;
  result.timing = TimingMethod{Flush::memset, 0, false, 3};
  result.verdict = {true, 0.25, 0.75};
  const float expected = 2.5f;
  std::memcpy(result.expected.bytes.data(), &expected, sizeof(expected));
  EXPECT_EQ(text_of(result),
            R"({"step":"03_sequential","title":"","device":{"kind":"cuda","name":"",)"
            R"("compute_capability":null,"sms":null,"l2_bytes":null,"peak_gbps":1000.0},)"
            R"("type":"float32","elements":1000000,"block":256,"grid":3907,"samples":3,)"
            R"("ms":{"median":0.01,"p5":0.008,"p95":0.012,"min":0.007},"first_run_ms":0.5,)"
            R"("timing":{"flush":"memset","warm_up":0,"queued":false,"lead_in":3,"back_to_back":1},)"
            R"("gbps":400.0,"percent_of_peak":40.0,"result":1.5,"expected":2.5,)"
            R"("error":0.25,"tolerance":0.75,"verified":true,"data":"random","seed":1,)"
            R"("passes":[{"elements":1000000,"blocks":3907,"counters":null},)"
            R"({"elements":3907,"blocks":16,"counters":null},)"
            R"({"elements":16,"blocks":1,"counters":null}],"counters":null})");
}

TEST(ToJson, WritesComplexNumbersAsPairsAndWhatADoubleCannotHoldAsText) {
  const auto value = [](const Result& result) { return Json(result)["result"].dump(); };
  EXPECT_EQ(value(result_of<double>(ElementType::complex128, 1.0, -2.0)), "[1.0,-2.0]");
  EXPECT_EQ(value(result_of<std::int64_t>(ElementType::int64, -5)), "-5");
  EXPECT_EQ(value(result_of<std::int64_t>(ElementType::int64, (std::int64_t{1} << 53) + 1)),
            "\"9007199254740993\"");
  EXPECT_EQ(value(result_of<std::int64_t>(ElementType::int64, std::numeric_limits<std::int64_t>::min())),
            "\"-9223372036854775808\"");
  EXPECT_EQ(value(result_of<float>(ElementType::float32, std::numeric_limits<float>::quiet_NaN())),
            "\"nan\"");
  Result result = result_of<float>(ElementType::float32, 1.0f);
  result.input.seed = ~std::uint64_t{0};
  EXPECT_EQ(Json(result)["seed"], "18446744073709551615");
}

/// As tools reads it of 13_many_gpus.
TEST(ToJson, WritesHowRanksShareAnInput) {
  Result result = result_of<float>(ElementType::float32, 1.0f);
  result.device.peak_gbps = 10;
  result.input.n = 1'000'000'000;
  result.ms = Summary{200, 200, 200, 200};
  result.shared = SharedBy{4, 2, 250'000'000, true, "MPI", 8};
  const Json json = result;
  EXPECT_EQ(json["gbps"], 20.0);
  EXPECT_EQ(json["percent_of_peak"], 50.0);
  std::string own;
  for (auto key = json.find("ranks"); key != json.end(); ++key)
    own += key.key() + " " + key->dump() + " ";
  EXPECT_EQ(own,
            "ranks 4 nodes 2 elements_per_rank 250000000 weak true combined_by \"MPI\" gbps_per_rank 5.0 "
            "times_one_rank 2.5 ");
  EXPECT_EQ(json.get<Result>().percent_of_peak(), 50.0);
}

/// Expects that what was read back is written as before.
void expect_round_trip(const Result& result) {
  const Json json = result;
  EXPECT_EQ(Json(json.get<Result>()).dump(2), json.dump(2));
  EXPECT_EQ(Json(Json::parse(json_text(result)).get<Result>()).dump(2), json.dump(2)) << "by way of text";
}

TEST(FromJson, ReadsWhatToJsonWrites) {
  Result result = result_of<std::int32_t>(ElementType::int32, -17);
  expect_round_trip(result);
  result.title = "sequential \"addressing\"\n";
  result.variant = "tree";
  result.device = {DeviceKind::emulated, "emulated H200", "9.0", 132, 62'914'560, 4814.304, ""};
  result.input = {Data::cancelling, ~std::uint64_t{0}, std::uint64_t{1} << 48};
  result.samples = 3;
  result.ms = Summary{0.1, 0.08, 0.12, 0.07};
  result.first_run_ms = 0.3;
  result.timing = TimingMethod{Flush::none, 0, false, 3};
  result.verdict = {true, 0.25, std::numeric_limits<double>::infinity()};
  std::uint64_t count = std::uint64_t{1} << 60;
  for (__emulated::Counters& counters : result.pass_counters = {{}, {}, {}}) {
    for (const __emulated::NamedCounter& named : __emulated::counter_names)
      counters.*named.counter = ++count;
  }
  expect_round_trip(result);
  result.other_variants = {result, result_of<std::int32_t>(ElementType::int32, 17)};
  expect_round_trip(result);
}

TEST(FromJson, ReadsTheCountersOfAStepThatChoosesItsLaunch) {
  Result result = result_of<std::int32_t>(ElementType::int32, 1);
  result.passes.clear();
  result.pass_counters.resize(2);
  result.pass_counters.front().atomics = 5;
  expect_round_trip(result);
  EXPECT_EQ(Json(result).get<Result>().counters()->atomics, 5u);
}

/// A file as a run of one step on the emulated device writes it.
Json of_a_step() {
  Result result = result_of<std::int32_t>(ElementType::int32, 1);
  result.device.kind = DeviceKind::emulated;
  result.passes = {{77, 1}};
  result.pass_counters.resize(1);
  result.pass_counters.front().atomics = 5;
  result.verdict.verified = true;
  return result;
}

class ReadResults : public testing::Test {
 protected:
  ~ReadResults() override { std::filesystem::remove_all(file_); }

  std::vector<Result> read(const std::string& content) {
    std::ofstream(file_) << content;
    return read_results(file_.string(), documents_);
  }

  /// What is said of the file, without its name.
  std::string refusal(const std::string& content) {
    try {
      read(content);
    } catch (const UsageError& error) {
      const std::string what = error.what();
      const std::string name = "'" + file_.string() + "': ";
      EXPECT_EQ(what.find(name), 0u) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos) << what;
      return what.substr(name.size());
    }
    return "";
  }

  std::filesystem::path file_ = temporary_path("result_json_test.json");
  Json documents_ = Json::array();
};

TEST_F(ReadResults, TakesAResultAndTheListOfASweep) {
  const Json one = of_a_step();
  ASSERT_EQ(read(one.dump()).size(), 1u);
  EXPECT_EQ(read(Json::array({one, one}).dump()).size(), 2u);
  EXPECT_EQ(documents_, Json::array({one, one, one}));
}

TEST_F(ReadResults, NamesTheKeyOfWhatIsMissing) {
  for (const char* key : {"/step", "/device", "/device/kind", "/type", "/ms", "/verified", "/passes",
                          "/passes/0/blocks", "/counters", "/counters/atomics"}) {
    const Json::json_pointer pointer(key);
    Json json = of_a_step();
    json[pointer.parent_pointer()].erase(pointer.back());
    EXPECT_EQ(refusal(json.dump()), "key '" + pointer.back() + "' not found; give the --json file of a step");
  }
}

TEST_F(ReadResults, ReadsTheOneResultToCompareWith) {
  const std::string file = file_.string();
  read(of_a_step().dump());
  EXPECT_EQ(read_compared_result(file, ElementType::int32, false).counters()->atomics, 5u);
  EXPECT_THROW(read_compared_result(file, ElementType::int64, false), UsageError);
  read(Json::array({of_a_step(), of_a_step()}).dump());
  EXPECT_THROW(read_compared_result(file, ElementType::int32, false), UsageError) << "of a sweep";
  EXPECT_EQ(read_compared_result(file, ElementType::int64, true).step, "03_sequential") << "in a sweep";
}

}  // namespace
}  // namespace reduction
