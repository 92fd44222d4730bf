#include "harness/text_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "harness/exit_code.hpp"
#include "harness/options.hpp"

namespace reduction {

namespace {

/// Ends what would not end by itself, such as /dev/zero.
constexpr std::size_t most_bytes = std::size_t{256} << 20;

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

/// A file that is open.
class Descriptor {
 public:
  /// Takes what open() returns.
  explicit Descriptor(int number) : number_(number) {
    if (number_ < 0) fail(errno);
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }

  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(number_, text.data(), text.size());
      if (written < 0) fail(errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  /// Throws where a disk is found to be full only now.
  void close() {
    if (::close(std::exchange(number_, -1)) != 0) fail(errno);
  }

 private:
  int number_;
};

/// A file that nobody else has, beside the one that it is to become; else it is removed.
class Replacement {
 public:
  explicit Replacement(const std::filesystem::path& target)
      : target_(target),
        name_((target.parent_path() / fmt::format(".reduction.{}", getpid())).string()),
        file_(open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {}
  ~Replacement() { unlink(name_.c_str()); }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void become_target(std::string_view text) {
    file_.write(text);
    file_.close();
    if (rename(name_.c_str(), target_.c_str()) != 0) fail(errno);
  }

 private:
  std::filesystem::path target_;
  std::string name_;
  Descriptor file_;
};

}  // namespace

std::string read_text_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, std::size_t{1} << 16> buffer;
  while (const ssize_t size = read(file.number(), buffer.data(), buffer.size())) {
    if (size < 0) fail(errno);
    text.append(buffer.data(), static_cast<std::size_t>(size));
    if (text.size() > most_bytes) fail(EFBIG);
  }
  return text;
}

OutputFile::OutputFile(const std::string& path, std::string option)
    : option_{std::move(option)}, name_{path} {
  if (path.empty() || is_stdout()) return;
  try {
    struct stat found {};
    const bool exists = stat(path.c_str(), &found) == 0;
    if (!exists && errno != ENOENT) fail(errno);
    if (S_ISDIR(found.st_mode)) fail(EISDIR);
    if (exists && !S_ISREG(found.st_mode)) return;
    target_ = std::filesystem::weakly_canonical(path);
    const Replacement trial(target_);
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format("{} '{}': {}; name a file in a folder that can be written", option_, path,
                                 error.code().message()));
  }
}

void OutputFile::keep(const std::string& text) const {
  if (!target_.empty()) put(text);  // write() tries again, and says why it fails
}

bool OutputFile::write(const std::string& text) const {
  if (name_.empty()) return true;
  if (is_stdout()) return print(stdout, text);
  const std::error_code error = put(text);
  if (error) note_lost_output(error.value(), fmt::format("{} '{}': {}", option_, name_, error.message()));
  return !error;
}

std::error_code OutputFile::put(const std::string& text) const {
  try {
    if (target_.empty()) {
      Descriptor(open(name_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC)).write(text);
    } else {
      Replacement(target_).become_target(text);
    }
    return {};
  } catch (const std::system_error& error) {
    return error.code();
  }
}

}  // namespace reduction
