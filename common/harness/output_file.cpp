#include "harness/output_file.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "harness/options.hpp"

namespace reduction {

namespace {

/// Makes an empty file that nobody else has, beside `path`. Throws std::system_error.
std::filesystem::path make_temporary_beside(const std::filesystem::path& path) {
  std::string name = path.string() + ".XXXXXX";
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) throw std::system_error(errno, std::generic_category());
  // mkstemp makes a file for its owner alone; the result is to be an ordinary one.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);
  close(descriptor);
  return name;
}

}  // namespace

OutputFile::OutputFile(const std::string& path, std::string option) : option_{std::move(option)} {
  if (path.empty() || path == "-") {
    path_ = path;
    return;
  }
  try {
    // A link stays one: what it points to is replaced.
    path_ = std::filesystem::weakly_canonical(path);
    const bool exists = std::filesystem::exists(path_);
    if (std::filesystem::is_directory(path_)) throw std::system_error(EISDIR, std::generic_category());
    if (exists && access(path_.c_str(), W_OK) != 0) throw std::system_error(errno, std::generic_category());
    // Only an ordinary file can be replaced as a whole; a pipe or a terminal is written as it is.
    replaced_ = !exists || std::filesystem::is_regular_file(path_);
    if (replaced_) std::filesystem::remove(make_temporary_beside(path_));
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format("{} '{}': {}; name a file in a folder that can be written", option_, path,
                                 error.code().message()));
  }
}

void OutputFile::keep(const std::string& text) const {
  if (replaced_) write(text);
}

void OutputFile::write(const std::string& text) const {
  if (path_.empty()) return;
  if (path_ == "-") {
    fmt::print("{}", text);
    return;
  }
  const std::filesystem::path target = replaced_ ? make_temporary_beside(path_) : path_;
  std::ofstream stream(target);
  stream << text << std::flush;
  const bool written = static_cast<bool>(stream);
  stream.close();
  if (!written) {
    if (replaced_) std::filesystem::remove(target);
    throw std::runtime_error(fmt::format("{} '{}': writing failed", option_, path_.string()));
  }
  if (replaced_) std::filesystem::rename(target, path_);
}

}  // namespace reduction
