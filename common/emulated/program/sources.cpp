#include "emulated/program/sources.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "emulated/rewrite/rewrite.hpp"
#include "emulated/rewrite/tokens.hpp"

namespace emulated_program {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::error_code reason;
  const fs::file_status status = fs::status(path, reason);
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw std::runtime_error{path.string() + ": error: is no file"};
  std::ifstream file{path, std::ios::binary};
  if (!file) throw std::runtime_error{path.string() + ": error: cannot be read: " + std::strerror(errno)};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (text.find('\0') != text.npos) throw std::runtime_error{path.string() + ": error: is no text"};
  return text;
}

/// What stands between the quotes or brackets behind `#include`.
struct Include {
  std::size_t begin;  ///< of the name with its quotes
  std::size_t length;
  bool quoted;

  std::string_view name(std::string_view source) const { return source.substr(begin + 1, length - 2); }
};

std::vector<Include> includes_of(std::string_view source) {
  std::vector<Include> found;
  const auto pieces =
      emulated_rewrite::tokenize(source);  // the file's own tokens, and then those of its macros
  for (const emulated_rewrite::Token& token : pieces.front()) {
    if (token.type != emulated_rewrite::TokenType::directive || token.text != "include") continue;
    const std::size_t name_end =
        source.find(token.text, token.offset) + token.text.size();  // its offset is that of the '#'
    const std::size_t begin = source.find_first_not_of(" \t", name_end);
    if (begin == source.npos || (source[begin] != '"' && source[begin] != '<')) continue;  // a macro's name
    const bool quoted = source[begin] == '"';
    const std::size_t end = source.find_first_of(quoted ? "\"\n" : ">\n", begin + 1);
    if (end != source.npos && source[end] != '\n') found.push_back({begin, end + 1 - begin, quoted});
  }
  return found;
}

}  // namespace

Sources::Sources(fs::path folder, std::vector<std::string> include_folders, std::vector<fs::path> reserved)
    : folder_{std::move(folder)},
      include_folders_{std::move(include_folders)},
      reserved_{std::move(reserved)} {}

fs::path Sources::rewritten(const fs::path& file) {
  const fs::path path = fs::absolute(file).lexically_normal();
  return copy(path, true);
}

/// A copy is not beside what the original includes, so it names all of that by its place.
fs::path Sources::copy(const fs::path& file, bool in_any_case) {
  const auto [known, is_new] =
      copies_.try_emplace(file, file);  // one that includes itself is not followed further
  if (!is_new) return known->second;
  try {
    const std::string source = read(file);
    bool includes_copies = false;
    std::string text;
    std::size_t done = 0;
    for (const Include& include : includes_of(source)) {
      const auto header = find(include.name(source), include.quoted, file);
      if (!header) continue;
      const fs::path place = copy(*header, false);
      includes_copies = includes_copies || place != *header;
      text += source.substr(done, include.begin - done) + '"' + place.string() + '"';
      done = include.begin + include.length;
    }
    text += source.substr(done);
    if (!in_any_case && !includes_copies && emulated_rewrite::rewrite(source) == source) return file;
    return copies_[file] = write(file, emulated_rewrite::rewrite(text));
  } catch (const emulated_rewrite::RewriteError& error) {
    throw std::runtime_error{file.string() + ':' + std::to_string(error.line) + ": error: " + error.what()};
  }
}

std::optional<fs::path> Sources::find(std::string_view name, bool quoted, const fs::path& includer) const {
  const auto is_file = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error);
  };
  std::vector<fs::path> folders;
  if (quoted) folders.push_back(includer.parent_path());
  if (std::ranges::any_of(reserved_, [&](const fs::path& folder) { return is_file(folder / name); }) &&
      (!quoted || !is_file(folders.front() / name)))
    return std::nullopt;
  folders.insert(folders.end(), include_folders_.begin(), include_folders_.end());
  for (const fs::path& folder : folders) {
    if (is_file(folder / name)) return fs::absolute(folder / name).lexically_normal();
  }
  return std::nullopt;
}

fs::path Sources::write(const fs::path& file, const std::string& text) {
  const fs::path copy = folder_ / file.relative_path();
  fs::create_directories(copy.parent_path());
  std::ofstream out{copy, std::ios::binary};
  out << emulated_rewrite::line_directive(file) << text;
  out.close();
  if (!out) throw std::runtime_error{copy.string() + ": error: cannot be written"};
  return copy;
}

}  // namespace emulated_program
