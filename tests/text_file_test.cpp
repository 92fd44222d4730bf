#include "harness/text_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "harness/exit_code.hpp"
#include "harness/options.hpp"
#include "temporary_path.hpp"

namespace reduction {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// What a program that writes "{}" to `file` returns, and says on stderr.
std::pair<int, std::string> written(const OutputFile& file) {
  testing::internal::CaptureStderr();
  const int code = exit_code_of("step", [&] {
    file.write("{}");
    return ExitCode::verified;
  });
  return {code, testing::internal::GetCapturedStderr()};
}

const std::pair<int, std::string> silently{0, ""};

/// Runs in a folder with files of several kinds.
class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    std::filesystem::create_directories(folder_ / "deeper");
    std::filesystem::current_path(folder_);
    std::ofstream("old.json") << "before";
    std::filesystem::create_symlink("old.json", "link.json");
    std::filesystem::create_symlink("/dev/full", "full.json");
  }
  ~OutputFileTest() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  /// The names of all files, and which are links.
  static std::set<std::pair<std::string, bool>> files() {
    std::set<std::pair<std::string, bool>> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator("."))
      found.emplace(entry.path().lexically_normal().string(), entry.is_symlink());
    return found;
  }

  std::filesystem::path before_ = std::filesystem::current_path();
  std::filesystem::path folder_ = temporary_path("text_file_test");
};

TEST_F(OutputFileTest, AppearsWholeWhereItsNameLeadsToAndAlone) {
  const std::string longest(NAME_MAX, 'x');
  for (const auto& [name, target] : {std::pair<std::string, std::string>("new.json", "new.json"),
                                     {"./deeper/../new.json", "new.json"},
                                     {(folder_ / "deeper/new.json").string(), "deeper/new.json"},
                                     {longest, longest},
                                     {"old.json", "old.json"},
                                     {"link.json", "old.json"}}) {
    std::ofstream("old.json") << "before";
    auto expected = files();
    const std::string before = content(target);
    std::ifstream reader(target);
    const OutputFile file(name);
    EXPECT_EQ(files(), expected) << name << " before anything is written";
    EXPECT_EQ(content(target), before) << name;
    file.keep("[1]");
    EXPECT_EQ(content(target), "[1]") << name;
    EXPECT_EQ(written(OutputFile(name)), silently) << name;
    EXPECT_EQ(content(target), "{}") << name;
    std::ostringstream read;
    if (reader.is_open()) read << reader.rdbuf();
    EXPECT_EQ(read.str(), before) << name << ", which a reader has open";
    expected.emplace(target, false);
    EXPECT_EQ(files(), expected) << name;
  }
}

TEST_F(OutputFileTest, RefusesAPlaceThatCannotBeWritten) {
  const auto expected = files();
  for (const auto& [name, reason] :
       {std::pair<std::string, std::string>("missing/new.json", "No such file or directory"),
        {"new.json/", "No such file or directory"},
        {"old.json/new.json", "Not a directory"},
        {"deeper", "Is a directory"},
        {std::string(NAME_MAX + 1, 'x'), "File name too long"}}) {
    try {
      const OutputFile file(name, "--trace");
      ADD_FAILURE() << "accepted: " << name;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(),
                "--trace '" + name + "': " + reason + "; name a file in a folder that can be written");
    }
  }
  EXPECT_EQ(files(), expected);
}

/// While one lives, stdout is this file.
class RedirectedStdout {
 public:
  explicit RedirectedStdout(const char* file) {
    const int descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    std::fflush(stdout);
    dup2(descriptor, STDOUT_FILENO);
    close(descriptor);
  }
  ~RedirectedStdout() {
    std::fflush(stdout);
    dup2(before_, STDOUT_FILENO);
    close(before_);
  }
  RedirectedStdout(const RedirectedStdout&) = delete;
  RedirectedStdout& operator=(const RedirectedStdout&) = delete;

 private:
  int before_ = dup(STDOUT_FILENO);
};

TEST_F(OutputFileTest, IsStdoutByItsNames) {
  const RedirectedStdout redirected("old.json");
  for (const char* name : {"-", "/dev/stdout"}) {
    const OutputFile file(name);
    EXPECT_TRUE(file.is_stdout());
    file.keep("[1]");
    EXPECT_EQ(content("old.json"), "before") << "only the last document";
  }
  OutputFile("-").write("{} ");
  OutputFile("/dev/stdout").write("{}");
  EXPECT_EQ(content("old.json"), "{} {}e");
}

/// As bash makes of `>(cat)`, and of `>(true)`.
TEST_F(OutputFileTest, WritesToAPipeWithoutANameUnlessItsReaderHasLeft) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const OutputFile file("/dev/fd/" + std::to_string(ends[1]));
  EXPECT_EQ(written(file), silently);
  std::array<char, 2> read{};
  EXPECT_EQ(::read(ends[0], read.data(), read.size()), 2);
  close(ends[0]);
  EXPECT_EQ(written(file), silently) << "he has what he wanted";
  EXPECT_FALSE(file.write("{}"));
  close(ends[1]);
}

TEST_F(OutputFileTest, SaysWhatIsLost) {
  for (const char* name : {"/dev/full", "full.json"}) {
    const std::string said = "step: error: --json '" + std::string(name) + "': No space left on device\n";
    EXPECT_EQ(written(OutputFile(name)), std::pair(3, said));
  }
  const RedirectedStdout redirected("/dev/full");
  EXPECT_EQ(written(OutputFile("-")),
            std::pair(3, std::string("step: error: stdout does not take the output\n")));
  EXPECT_FALSE(OutputFile("-").write("{}"));
}

TEST_F(OutputFileTest, LeavesNothingWhereAFileMayNotGrow) {
  const auto expected = files();
  const OutputFile json("old.json");
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  json.keep("[1]");
  const bool is_written = json.write("[1]");
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(is_written);
  EXPECT_EQ(content("old.json"), "before");
  EXPECT_EQ(files(), expected);
  EXPECT_EQ(written(OutputFile("new.json")).second, "step: error: --json 'old.json': File too large\n");
}

}  // namespace
}  // namespace reduction
