#include "harness/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "harness/options.hpp"
#include "harness/standard_streams.hpp"
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

TEST_F(OutputFileTest, LeavesWhatAReaderHasOpen) {
  std::ofstream(file_) << "before";
  std::ifstream reader(file_);
  OutputFile(file_.string()).write("{}");
  std::string read;
  reader >> read;
  EXPECT_EQ(read, "before");
  EXPECT_EQ(content(file_), "{}");
}

/// As a container has a single file of its host's.
TEST_F(OutputFileTest, WritesInPlaceWhatIsMounted) {
  const std::filesystem::path mounted = folder_ / "mounted.json";
  std::ofstream(file_) << "before, and longer";
  std::ofstream(mounted) << "";
  if (mount(file_.c_str(), mounted.c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "no file can be mounted here: " << std::strerror(errno);
  OutputFile json(mounted.string());
  json.keep("[1]");
  EXPECT_EQ(content(file_), "[1]");
  EXPECT_TRUE(json.write("[1]"));
  umount(mounted.c_str());
  EXPECT_EQ(content(file_), "[1]");
  EXPECT_EQ(content(mounted), "");
  EXPECT_EQ(files(), 2);
}

TEST_F(OutputFileTest, FollowsALink) {
  const std::filesystem::path link = folder_ / "link.json";
  std::ofstream(file_) << "before";
  std::filesystem::create_symlink(file_, link);
  OutputFile(link.string()).write(R"({"a": 1})");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(nlohmann::json::parse(content(file_))["a"], 1);
}

TEST_F(OutputFileTest, MakesWhatALinkLeadsTo) {
  std::filesystem::create_directory(folder_ / "deeper");
  std::filesystem::create_symlink("deeper/second.json", folder_ / "first.json");
  std::filesystem::create_symlink("../result.json", folder_ / "deeper/second.json");
  OutputFile((folder_ / "first.json").string()).write("{}");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "first.json"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "deeper/second.json"));
  EXPECT_EQ(content(file_), "{}");
  std::filesystem::create_symlink("self.json", folder_ / "self.json");
  EXPECT_THROW(OutputFile((folder_ / "self.json").string()), UsageError);
}

TEST_F(OutputFileTest, RefusesAPlaceThatCannotBeWritten) {
  EXPECT_THROW(OutputFile((folder_ / "missing" / "x.json").string()), UsageError);
  EXPECT_THROW(OutputFile{folder_.string()}, UsageError);
  EXPECT_THROW(OutputFile((folder_ / std::string(300, 'x')).string()), UsageError);
}

TEST_F(OutputFileTest, RefusesAFileThatHasOtherNames) {
  std::ofstream(file_) << "before";
  std::filesystem::create_hard_link(file_, folder_ / "other.json");
  EXPECT_THROW(OutputFile{file_.string()}, UsageError);
  EXPECT_EQ(content(file_), "before");
  EXPECT_EQ(files(), 2);
}

TEST_F(OutputFileTest, TakesEveryNameThatAFileCanHave) {
  const std::filesystem::path longest = folder_ / std::string(NAME_MAX, 'x');
  OutputFile(longest.string()).write("{}");
  EXPECT_EQ(content(longest), "{}");
}

TEST_F(OutputFileTest, KeepsModeAndOwner) {
  std::ofstream(file_) << "before";
  constexpr auto mode = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write |
                        std::filesystem::perms::group_write;
  std::filesystem::permissions(file_, mode);
  const bool as_root = geteuid() == 0;
  constexpr uid_t somebody = 12345;
  if (as_root) {
    ASSERT_EQ(chown(file_.c_str(), somebody, somebody), 0);
  }
  OutputFile(file_.string()).write("{}");
  struct stat found {};
  ASSERT_EQ(stat(file_.c_str(), &found), 0);
  EXPECT_EQ(std::filesystem::status(file_).permissions(), mode);
  EXPECT_EQ(found.st_uid, as_root ? somebody : geteuid());
}

TEST_F(OutputFileTest, NamesTheOwnerOfAFileThatCannotBeReplaced) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  std::ofstream(file_) << "before";
  std::filesystem::permissions(file_, std::filesystem::perms::all);
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  const auto expect_refusal = [&](const std::string& owner) {
    ASSERT_EQ(seteuid(23456), 0);
    try {
      const OutputFile json(file_.string());
      ADD_FAILURE() << "accepted, though it belongs to " << owner;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("': it belongs to " + owner + ": "), std::string::npos)
          << error.what();
    }
    ASSERT_EQ(seteuid(0), 0);
  };
  expect_refusal("root");
  ASSERT_EQ(chown(file_.c_str(), 12345, 12345), 0);
  expect_refusal("user 12345");
  EXPECT_EQ(content(file_), "before");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, GivesANewFileTheModeOfAnyOther) {
  const auto expect_the_same_mode = [&] {
    std::ofstream(folder_ / "other") << "";
    OutputFile(file_.string()).write("{}");
    EXPECT_EQ(std::filesystem::status(file_).permissions(),
              std::filesystem::status(folder_ / "other").permissions());
    std::filesystem::remove(folder_ / "other");
    std::filesystem::remove(file_);
  };
  expect_the_same_mode();
  const mode_t mask = umask(0027);
  expect_the_same_mode();
  umask(mask);
  // The folder's own list of rights takes the place of umask: all for the owner, to read and write for user 12345.
  struct Entry {
    std::uint16_t who, rights;
    std::uint32_t number;
  };
  const struct {
    std::uint32_t version = 2;
    std::array<Entry, 5> entries{
        {{0x01, 7, ~0u}, {0x02, 6, 12345}, {0x04, 5, ~0u}, {0x10, 7, ~0u}, {0x20, 0, ~0u}}};
  } rights;
  if (setxattr(folder_.c_str(), "system.posix_acl_default", &rights, sizeof(rights), 0) != 0)
    GTEST_SKIP() << "no lists of rights here: " << std::strerror(errno);
  expect_the_same_mode();
}

/// As bash makes of `>(cat)` and `5>file`.
TEST_F(OutputFileTest, WritesToADescriptorAsItIs) {
  const int descriptor = open(file_.c_str(), O_WRONLY | O_CREAT, 0644);
  ASSERT_EQ(write(descriptor, "before ", 7), 7);
  const std::string name = "/dev/fd/" + std::to_string(descriptor);
  OutputFile file(name);
  file.keep("{}");
  EXPECT_EQ(content(file_), "before ") << "only the last document";
  EXPECT_TRUE(file.write("{}"));
  EXPECT_EQ(content(file_), "before {}");
  close(descriptor);
  EXPECT_THROW(OutputFile{name}, UsageError);
  const int read_only = open(file_.c_str(), O_RDONLY);
  EXPECT_THROW(OutputFile{"/dev/fd/" + std::to_string(read_only)}, UsageError);
  close(read_only);
}

/// While one lives, stdout is this file.
class RedirectedStdout {
 public:
  explicit RedirectedStdout(const std::filesystem::path& file) {
    const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
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

TEST_F(OutputFileTest, KnowsStdoutByEveryName) {
  const std::filesystem::path link = folder_ / "link";
  std::filesystem::create_symlink("/dev/stdout", link);
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string own = "/proc/" + std::to_string(getpid()) + "/fd/1";
  for (const std::filesystem::path& is : {file_, pipe, std::filesystem::path("/dev/null")}) {
    const RedirectedStdout redirected(is);
    for (const std::string& name :
         {std::string("-"), std::string("/dev/stdout"), std::string("//dev/stdout"), std::string("/dev/fd/1"),
          std::string("/proc/self/fd/1"), own, link.string()})
      EXPECT_TRUE(OutputFile(name).is_stdout()) << name << " in " << is;
    // What goes there is lost in any case; the table need not be told elsewhere.
    EXPECT_EQ(OutputFile(is.string()).is_stdout(), is != "/dev/null") << is;
    EXPECT_FALSE(OutputFile("/dev/full").is_stdout());
    EXPECT_FALSE(OutputFile("/dev/stderr").is_stdout());
    EXPECT_FALSE(OutputFile((folder_ / "stdout").string()).is_stdout());
  }
  EXPECT_FALSE(OutputFile("").is_stdout());
  for (const char* name : {"/dev/fd/1x", "/dev/fd/", "/dev/fd/99"})
    EXPECT_THROW(OutputFile{name}, UsageError) << name;
}

TEST_F(OutputFileTest, WritesBesideWhatStdoutHas) {
  {
    const RedirectedStdout redirected(file_);
    print(stdout, "before ");
    OutputFile(file_.string()).write("{}");
  }
  EXPECT_EQ(content(file_), "before {}");
}

/// As a shell's own stdout is for what it starts.
TEST_F(OutputFileTest, WritesToTheDescriptorOfAnotherProcess) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t other = fork();
  if (other == 0) {
    pause();
    _exit(0);
  }
  const std::string name = "/proc/" + std::to_string(other) + "/fd/" + std::to_string(ends[1]);
  EXPECT_TRUE(OutputFile(name).write("{}"));
  std::array<char, 2> read{};
  EXPECT_EQ(::read(ends[0], read.data(), read.size()), 2);
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  for (const int end : ends)
    close(end);
}

TEST_F(OutputFileTest, RefusesASocket) {
  sockaddr_un address{AF_UNIX, "socket"};
  const std::filesystem::path name = folder_ / "socket";
  ASSERT_LT(name.string().size(), sizeof(address.sun_path));
  name.string().copy(address.sun_path, sizeof(address.sun_path));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_THROW(OutputFile{name.string()}, UsageError);
  close(socket);
}

TEST_F(OutputFileTest, SaysWhenTheDiskIsFull) {
  EXPECT_FALSE(OutputFile("/dev/full", "--trace").write("{}"));
  EXPECT_EQ(take_lost_output(), std::vector<std::string>{"--trace '/dev/full': No space left on device"});
}

TEST_F(OutputFileTest, SaysWhenStdoutDoesNotTakeIt) {
  {
    const RedirectedStdout redirected("/dev/full");
    EXPECT_FALSE(OutputFile("-").write("{}"));
  }
  EXPECT_EQ(take_lost_output(), std::vector<std::string>{"stdout does not take the output"});
}

TEST_F(OutputFileTest, TakesAReaderWhoLeavesForNoError) {
  prepare_standard_streams();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const OutputFile json("/dev/fd/" + std::to_string(ends[1]));
  close(ends[0]);
  EXPECT_FALSE(json.write("{}"));
  EXPECT_TRUE(take_lost_output().empty());
  close(ends[1]);
}

TEST_F(OutputFileTest, IsNotWrittenTwice) {
  OutputFile json(file_.string());
  json.keep("[1]");
  std::filesystem::remove(file_);
  EXPECT_TRUE(json.write("[1]"));
  EXPECT_EQ(files(), 0) << "whoever has moved it away has the document";
}

TEST_F(OutputFileTest, LeavesNothingWhereAFileMayNotGrow) {
  std::ofstream(file_) << "before";
  OutputFile json(file_.string());
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  json.keep(std::string(2000, 'x'));
  EXPECT_FALSE(json.write(std::string(2000, 'x')));
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(take_lost_output().size(), 1u);
  EXPECT_EQ(content(file_), "before");
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace reduction
