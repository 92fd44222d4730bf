#include "harness/output_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/options.hpp"
#include "harness/standard_streams.hpp"

namespace reduction {

namespace {

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

/// Returns the number of a descriptor that the shell has opened, of /dev/fd/63 for `>(cat)`.
std::optional<int> descriptor_of(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    path.remove_prefix(folder.size());
    int number = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
    if (error == std::errc{} && end == path.data() + path.size() && number >= 0) return number;
  }
  return std::nullopt;
}

/// Returns where a path leads. A link may lead to a file that is yet to be made.
std::filesystem::path target_of(const std::string& path) {
  std::filesystem::path target = std::filesystem::weakly_canonical(path);
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(target)); ++links) {
    if (links == 40) fail(ELOOP);
    target = std::filesystem::weakly_canonical(target.parent_path() / std::filesystem::read_symlink(target));
  }
  return target;
}

void require_writable(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags == -1) fail(errno);
  if ((flags & O_ACCMODE) == O_RDONLY) fail(EBADF);
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_special_file(const std::filesystem::path& path, std::string_view text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) fail(errno);
  try {
    write_all(descriptor, text);
  } catch (...) {
    close(descriptor);
    throw;
  }
  close(descriptor);
}

/// A file that nobody else has, beside the one that it is to become; without commit() it is removed.
class Replacement {
 public:
  explicit Replacement(const std::filesystem::path& target)
      : target_(target), name_((target.parent_path() / ".reduction.XXXXXX").string()) {
    descriptor_ = mkostemp(name_.data(), O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    try {
      take_owner_and_mode();
    } catch (...) {
      remove();
      throw;
    }
  }
  ~Replacement() { remove(); }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void write(std::string_view text) const { write_all(descriptor_, text); }

  void commit() {
    if (close(std::exchange(descriptor_, -1)) != 0) fail(errno);
    if (rename(name_.c_str(), target_.c_str()) != 0) fail(errno);
    name_.clear();
  }

 private:
  void take_owner_and_mode() const {
    struct stat target {};
    mode_t mode = 0666;
    if (stat(target_.c_str(), &target) == 0) {
      mode = target.st_mode & 07777;
      struct stat own {};
      if (fstat(descriptor_, &own) != 0) fail(errno);
      const bool same = own.st_uid == target.st_uid && own.st_gid == target.st_gid;
      if (!same && fchown(descriptor_, target.st_uid, target.st_gid) != 0) fail(errno);
    } else {
      // mkostemp makes a file for its owner alone; a new one is to be as any other.
      const mode_t mask = umask(0);
      umask(mask);
      mode &= ~mask;
    }
    if (fchmod(descriptor_, mode) != 0) fail(errno);
  }

  void remove() {
    if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
    if (!name_.empty()) unlink(name_.c_str());
    name_.clear();
  }

  std::filesystem::path target_;
  std::string name_;
  int descriptor_ = -1;
};

/// Tries all that replacing the file takes. Throws std::system_error.
void require_replaceable(const std::filesystem::path& path) {
  struct stat target {};
  if (stat(path.c_str(), &target) == 0) {
    if (access(path.c_str(), W_OK) != 0) fail(errno);
    if (target.st_nlink > 1) fail(EMLINK);
  }
  const Replacement trial(path);
}

}  // namespace

bool is_stdout(const std::string& path) { return path == "-" || descriptor_of(path) == STDOUT_FILENO; }

OutputFile::OutputFile(const std::string& path, std::string option)
    : option_{std::move(option)}, name_{path} {
  if (path.empty()) return;
  try {
    if (is_stdout(path)) {
      place_ = Place::on_stdout;
    } else if (const auto descriptor = descriptor_of(path)) {
      place_ = Place::descriptor;
      descriptor_ = *descriptor;
      require_writable(descriptor_);
    } else {
      path_ = target_of(path);
      if (std::filesystem::is_directory(path_)) fail(EISDIR);
      if (!std::filesystem::exists(path_) || std::filesystem::is_regular_file(path_)) {
        place_ = Place::ordinary_file;
        require_replaceable(path_);
      } else {
        place_ = Place::special_file;
        if (access(path_.c_str(), W_OK) != 0) fail(errno);
      }
    }
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format("{} '{}': {}; name a file in a folder that can be written", option_, path,
                                 error.code() == std::errc::too_many_links ? "it has other names (hard links)"
                                                                           : error.code().message()));
  }
}

void OutputFile::keep(const std::string& text) {
  if (place_ != Place::ordinary_file) return;
  try {
    put(text);
    kept_ = true;
  } catch (const std::system_error&) {
    kept_ = false;  // write() tries again, and says why
  }
}

bool OutputFile::write(const std::string& text) const {
  if (kept_) return true;
  try {
    put(text);
    return true;
  } catch (const std::system_error& error) {
    note_lost_output(error.code().value(),
                     fmt::format("{} '{}': {}", option_, name_, error.code().message()));
    return false;
  }
}

void OutputFile::put(const std::string& text) const {
  switch (place_) {
    case Place::nowhere: break;
    case Place::on_stdout: print(stdout, text); break;
    case Place::descriptor: write_all(descriptor_, text); break;
    case Place::special_file: write_special_file(path_, text); break;
    case Place::ordinary_file: {
      Replacement file(path_);
      file.write(text);
      file.commit();
      break;
    }
  }
}

}  // namespace reduction
