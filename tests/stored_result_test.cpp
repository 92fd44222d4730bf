#include "harness/stored_result.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "harness/json_report.hpp"
#include "harness/options.hpp"
#include "temporary_path.hpp"

namespace reduction {
namespace {

using Json = nlohmann::ordered_json;

Json of_a_step() {
  Result result;
  result.step = "05_unroll_warp";
  result.device.kind = DeviceKind::emulated;
  result.device.name = "emulated H200";
  result.input.n = 77;
  result.block = 256;
  result.passes = {{77, 1}};
  result.verdict.verified = true;
  emulated::Counters counters;
  counters.atomics = 5;
  result.pass_counters = {counters};
  return to_json(result);
}

class ReadResults : public testing::Test {
 protected:
  ~ReadResults() override { std::filesystem::remove_all(file_); }

  std::vector<StoredResult> read(const std::string& content) {
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
      return what.substr(name.size());
    }
    return "";
  }

  std::filesystem::path file_ = temporary_path("stored_result_test.json");
  Json documents_ = Json::array();
};

TEST_F(ReadResults, TakesAResultAndTheListOfASweep) {
  const Json one = of_a_step();
  ASSERT_EQ(read(one.dump()).size(), 1u);
  EXPECT_EQ(read(Json::array({one, one}).dump()).size(), 2u);
  EXPECT_EQ(documents_, Json::array({one, one, one}));
  const StoredResult result = read(one.dump()).front();
  EXPECT_EQ(result.step, "05_unroll_warp");
  EXPECT_EQ(result.device, DeviceKind::emulated);
  EXPECT_EQ(result.elements, 77u);
  EXPECT_EQ(result.block, 256u);
  EXPECT_EQ(result.pass_blocks, std::vector<std::uint64_t>{1});
  EXPECT_EQ(result.counters->atomics, 5u);
  EXPECT_FALSE(result.gbps);
  EXPECT_TRUE(result.verified);
}

TEST_F(ReadResults, AWrongVariantIsAWrongResult) {
  Json json = of_a_step();
  json["other_variants"] = Json::array({of_a_step()});
  EXPECT_TRUE(read(json.dump()).front().verified);
  json["other_variants"][0]["verified"] = false;
  EXPECT_FALSE(read(json.dump()).front().verified);
}

TEST_F(ReadResults, EveryKeyThatIsReadIsRequired) {
  for (const char* key :
       {"/step", "/device", "/device/kind", "/device/name", "/type", "/elements", "/block", "/ms", "/gbps",
        "/percent_of_peak", "/verified", "/passes", "/passes/0/blocks", "/counters", "/counters/atomics"}) {
    const Json::json_pointer pointer(key);
    Json json = of_a_step();
    json[pointer.parent_pointer()].is_array() ? json.erase("passes")
                                              : json[pointer.parent_pointer()].erase(pointer.back());
    EXPECT_NE(refusal(json.dump()).find("there is no '"), std::string::npos) << key;
    EXPECT_NE(refusal(json.dump()).find(pointer.back()), std::string::npos) << key;
  }
}

TEST_F(ReadResults, NamesTheKeyOfWhatCannotBe) {
  for (const auto& [key, value, said] : std::vector<std::tuple<const char*, Json, const char*>>{
           {"/elements", 1e300, "elements is 1e+300; it has to be a whole number from 0 to 281474976710656"},
           {"/elements", -1, "elements is -1"},
           {"/elements", "77", "elements is \"77\""},
           {"/block", 2048, "block is 2048; it has to be a whole number from 0 to 1024"},
           {"/gbps", "fast", "gbps is \"fast\"; it has to be a number from 0"},
           {"/gbps", -0.5, "gbps is -0.5"},
           {"/ms", 3, "ms is 3; it has to be an object"},
           {"/verified", 1, "verified is 1; it has to be true or false"},
           {"/type", "int16", "type is \"int16\"; it has to be one of int32, int64"},
           {"/device/kind", "tpu", "device.kind is \"tpu\"; it has to be one of cuda, emulated, cpu"},
           {"/step", "", "step is \"\"; it has to be a name"},
           {"/step", "a|b", "step is \"a|b\""},
           {"/step", "a\nb", "step is \"a\\nb\""},
           {"/device/name", nullptr, "device.name is null"},
           {"/passes", 7, "passes is 7; it has to be a list"},
           {"/passes/0/blocks", -3, "passes[0].blocks is -3"},
           {"/counters/blocks", 1e300, "counters.blocks is 1e+300"},
       }) {
    Json json = of_a_step();
    json[Json::json_pointer(key)] = value;
    EXPECT_NE(refusal(json.dump()).find(said), std::string::npos) << refusal(json.dump()) << ", not " << said;
  }
}

TEST_F(ReadResults, RefusesWhatIsNoFileOfAStep) {
  for (const auto& [content, said] : std::vector<std::pair<std::string, const char*>>{
           {"", "it is empty; give the --json file of a step"},
           {"{", "no JSON"},
           {std::string(100, '\0'), "no JSON, from byte 1"},
           {"null", "it is null; it has to be an object"},
           {"[]", "there is no result"},
           {"[null]", "[0] is null; it has to be an object"},
           {"[[]]", "[0] is []"},
           {"{}", "there is no 'step'"},
           {std::string(100000, '['), "nested too deep"},
           {std::string(200000, '[') + std::string(200000, ']'), "nested too deep"},
           {R"({"gbps": 1e999})", "too large a number"},
       }) {
    EXPECT_NE(refusal(content).find(said), std::string::npos) << refusal(content) << ", not " << said;
  }
}

TEST_F(ReadResults, RefusesWhatCannotBeRead) {
  for (const char* file : {"/tmp", "/missing/result.json", "/proc/self/mem", "/dev/zero"})
    EXPECT_THROW(read_results(file, documents_), UsageError) << file;
}

}  // namespace
}  // namespace reduction
