#include "harness/output_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/options.hpp"
#include "temporary_path.hpp"

namespace reduction {
namespace {

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() { std::filesystem::create_directories(folder_); }
  ~OutputFileTest() override { std::filesystem::remove_all(folder_); }

  static std::string content(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  auto files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

  std::filesystem::path folder_ = temporary_path("output_file_test");
  std::filesystem::path file_ = folder_ / "result.json";
};

TEST_F(OutputFileTest, AppearsWholeAndAlone) {
  const OutputFile json(file_.string());
  EXPECT_EQ(files(), 0);
  json.write(R"({"a": 1})");
  EXPECT_EQ(nlohmann::json::parse(content(file_))["a"], 1);
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, LeavesWhatWasThereUntilItIsWhole) {
  std::ofstream(file_) << "before";
  const OutputFile json(file_.string());
  EXPECT_EQ(content(file_), "before");
  json.write(R"({"a": 1})");
  EXPECT_EQ(nlohmann::json::parse(content(file_))["a"], 1);
}

TEST_F(OutputFileTest, FollowsALink) {
  const std::filesystem::path link = folder_ / "link.json";
  std::ofstream(file_) << "before";
  std::filesystem::create_symlink(file_, link);
  OutputFile(link.string()).write(R"({"a": 1})");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(nlohmann::json::parse(content(file_))["a"], 1);
}

TEST_F(OutputFileTest, RefusesAPlaceThatCannotBeWritten) {
  EXPECT_THROW(OutputFile((folder_ / "missing" / "x.json").string()), UsageError);
  EXPECT_THROW(OutputFile{folder_.string()}, UsageError);
  EXPECT_THROW(OutputFile((folder_ / std::string(300, 'x')).string()), UsageError);
}

TEST_F(OutputFileTest, SaysWhenTheDiskIsFull) {
  EXPECT_THROW(OutputFile("/dev/full").write(R"({"a": 1})"), std::runtime_error);
}

}  // namespace
}  // namespace reduction
