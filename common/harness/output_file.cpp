#include "harness/output_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "harness/options.hpp"
#include "harness/standard_streams.hpp"

namespace reduction {

namespace {

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

/// Follows links to a file, which may be yet to be made, or to a descriptor of this process, which /dev/stdout and what
/// the shell makes of `>(cat)` name.
std::filesystem::path target_of(std::filesystem::path path) {
  std::error_code error;
  const std::filesystem::path own_descriptors = std::filesystem::canonical("/proc/self/fd", error);
  for (int links = 0; links < 40; ++links) {
    const std::filesystem::path folder =
        std::filesystem::canonical(path.has_parent_path() ? path.parent_path() : ".");
    path = folder / path.filename();
    if (folder == own_descriptors || !std::filesystem::is_symlink(std::filesystem::symlink_status(path)))
      return path;
    path = folder / std::filesystem::read_symlink(path);
  }
  fail(ELOOP);
}

/// Returns the number of the descriptor of this process that a target_of() is.
std::optional<int> descriptor_of(const std::filesystem::path& target) {
  std::error_code error;
  if (!std::filesystem::equivalent(target.parent_path(), "/proc/self/fd", error)) return std::nullopt;
  const std::string name = target.filename();
  int number = 0;
  const auto [end, unreadable] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (unreadable != std::errc{} || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

/// Returns which of stdout and stderr this file is. Neither where it is a device: /dev/null takes any number of
/// documents.
std::optional<int> stream_of(const struct stat& file) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    const bool same = fstat(stream, &own) == 0 && own.st_dev == file.st_dev && own.st_ino == file.st_ino;
    if (same && !S_ISCHR(file.st_mode)) return stream;
  }
  return std::nullopt;
}

void require_writable(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags == -1) fail(errno);
  if ((flags & O_ACCMODE) == O_RDONLY) fail(EBADF);
}

/// Says why the file of this name cannot be written or replaced.
std::string reason(const std::error_code& error, const std::filesystem::path& path) {
  if (error == std::errc::too_many_links) return "it has other names (hard links)";
  const bool refused = error == std::errc::permission_denied || error == std::errc::operation_not_permitted;
  struct stat file {};
  if (!refused || stat(path.c_str(), &file) != 0 || file.st_uid == geteuid()) return error.message();
  const passwd* const owner = getpwuid(file.st_uid);
  return fmt::format("it belongs to {}: {}",
                     owner != nullptr ? owner->pw_name : fmt::format("user {}", file.st_uid),
                     error.message());
}

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_in_place(const std::filesystem::path& path, std::string_view text) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
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
  explicit Replacement(const std::filesystem::path& target) : target_(target) {
    struct stat before {};
    const bool replaces = stat(target_.c_str(), &before) == 0;
    // The system makes a new file as it makes any other, by umask or the folder's list of rights. In place of an old
    // one it never has more rights than that had, not even while it is empty.
    create(replaces ? before.st_mode & 0777 : 0666);
    try {
      if (replaces) take_owner_and_mode(before);
    } catch (...) {
      remove();
      throw;
    }
  }
  ~Replacement() { remove(); }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void write(std::string_view text) const { write_all(descriptor_, text); }

  /// Says whether the target could be replaced: a mount point cannot, such as a single file that a container has been
  /// given.
  bool commit() {
    if (close(std::exchange(descriptor_, -1)) != 0) fail(errno);
    if (rename(name_.c_str(), target_.c_str()) != 0) {
      if (errno == EBUSY) return false;
      fail(errno);
    }
    name_.clear();
    return true;
  }

 private:
  void create(mode_t mode) {
    for (int k = 0; descriptor_ < 0; ++k) {
      name_ = (target_.parent_path() / fmt::format(".reduction.{}.{}", getpid(), k)).string();
      descriptor_ = open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (descriptor_ >= 0 || errno == EEXIST) continue;
      const int error = errno;
      name_.clear();
      fail(error);
    }
  }

  void take_owner_and_mode(const struct stat& before) const {
    struct stat own {};
    if (fstat(descriptor_, &own) != 0) fail(errno);
    const bool same = own.st_uid == before.st_uid && own.st_gid == before.st_gid;
    if (!same && fchown(descriptor_, before.st_uid, before.st_gid) != 0) fail(errno);
    // What umask has taken. Some mounts have no modes to set; the file then has fewer rights, never more.
    if (own.st_mode != before.st_mode) static_cast<void>(fchmod(descriptor_, before.st_mode & 07777));
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

OutputFile::OutputFile(const std::string& path, std::string option)
    : option_{std::move(option)}, name_{path} {
  if (path.empty()) return;
  if (path == "-") {
    place_ = Place::descriptor;
    descriptor_ = STDOUT_FILENO;
    return;
  }
  try {
    path_ = target_of(path);
    struct stat found {};
    const bool exists = stat(path.c_str(), &found) == 0;
    if (!exists && errno != ENOENT) fail(errno);
    auto descriptor = descriptor_of(path_);
    if (!descriptor && exists) descriptor = stream_of(found);
    if (descriptor) {
      place_ = Place::descriptor;
      descriptor_ = *descriptor;
      require_writable(descriptor_);
    } else if (!exists || S_ISREG(found.st_mode)) {
      place_ = Place::ordinary_file;
      require_replaceable(path_);
    } else {
      place_ = Place::special_file;
      path_ = path;
      if (S_ISDIR(found.st_mode)) fail(EISDIR);
      if (S_ISSOCK(found.st_mode)) fail(ENXIO);  // only its owner can open one
      if (access(path_.c_str(), W_OK) != 0) fail(errno);
    }
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format("{} '{}': {}; name a file in a folder that can be written", option_, path,
                                 reason(error.code(), path)));
  }
}

bool OutputFile::is_stdout() const { return descriptor_ == STDOUT_FILENO; }

void OutputFile::keep(const std::string& text) {
  if (place_ != Place::ordinary_file) return;
  try {
    kept_ = put(text);
  } catch (const std::system_error&) {
    kept_ = false;  // write() tries again, and says why
  }
}

bool OutputFile::write(const std::string& text) const {
  if (kept_) return true;
  try {
    return put(text);
  } catch (const std::system_error& error) {
    note_lost_output(error.code().value(),
                     fmt::format("{} '{}': {}", option_, name_, error.code().message()));
    return false;
  }
}

bool OutputFile::put(const std::string& text) const {
  switch (place_) {
    case Place::nowhere: break;
    case Place::descriptor:
      if (is_stdout()) return print(stdout, text);
      write_all(descriptor_, text);
      break;
    case Place::special_file: write_in_place(path_, text); break;
    case Place::ordinary_file: {
      Replacement file(path_);
      file.write(text);
      if (!file.commit()) write_in_place(path_, text);
      break;
    }
  }
  return true;
}

}  // namespace reduction
