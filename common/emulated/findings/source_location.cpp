#include "emulated/findings/source_location.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulated/findings/loaded_objects.hpp"
#include "emulated/findings/source_text.hpp"

extern char** environ;

namespace __emulated {

std::string name_in_source(std::string_view function) {
  int depth = 0;
  std::string name;
  for (const char c : function) {
    if (c == '<') ++depth;
    if (depth == 0) {
      // "(anonymous namespace)::" begins like a parameter list, and ends like any other scope.
      if (c == '(' && !name.empty()) break;
      const bool is_of_name = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
      if (is_of_name) {
        name += c;
      } else {
        name.clear();
      }
    }
    if (c == '>') --depth;
  }
  return name.starts_with("operator") ? "" : name;
}
namespace {

/// The file that holds an address's code, and the address as that file's own tables count.
struct ObjectAddress {
  std::string file;
  std::uintptr_t offset = 0;
};

ObjectAddress object_address(const void* address) {
  for (const dl_phdr_info& object : loaded_objects()) {
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - object.dlpi_addr;
    for (const auto& segment : std::span{object.dlpi_phdr, object.dlpi_phnum}) {
      if (segment.p_type != PT_LOAD || offset - segment.p_vaddr >= segment.p_memsz) continue;
      // The program itself is listed without a name.
      const std::string name = object.dlpi_name;
      return {name.empty() ? std::filesystem::read_symlink("/proc/self/exe").string() : name, offset};
    }
  }
  return {};
}

/// The environment, with messages in English.
std::vector<char*> environment() {
  static std::string locale = "LC_ALL=C";
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!std::string_view{*variable}.starts_with("LC_ALL=")) variables.push_back(*variable);
  }
  variables.push_back(locale.data());
  variables.push_back(nullptr);
  return variables;
}

/// Runs a program found on PATH and hands over each line that it prints; none if it cannot run.
template <typename Take> void for_each_line_of(const std::vector<std::string>& command, const Take& take) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return;
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const bool started =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment().data()) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);

  std::string rest;
  std::vector<char> part(std::size_t{1} << 16);
  for (ssize_t count = 0; (count = read(pipe_ends[0], part.data(), part.size())) > 0;) {
    rest.append(part.data(), static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1)
      take(std::string_view{rest}.substr(begin, end - begin));
    rest.erase(0, begin);
  }
  close(pipe_ends[0]);
  if (started) waitpid(child, nullptr, 0);
}

/// "file:line", or "file:line (discriminator 3)".
SourceLocation parse_location(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  SourceLocation location{std::string{text.substr(0, colon)}};
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), location.line);
  return location.line == 0 ? SourceLocation{} : location;
}

/// A row of a line table: what holds from its address on, up to that of the next one.
struct Row {
  std::uintptr_t address = 0;
  unsigned file = 1;
  unsigned line = 1;
  unsigned column = 0;
};

/// The number that follows `before` in a line of text; `otherwise` if there is none.
template <typename Number>
Number number_after(std::string_view text, std::string_view before, int base, Number otherwise) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return otherwise;
  std::string_view digits = text.substr(at + before.size());
  if (base == 16 && digits.starts_with("0x")) digits.remove_prefix(2);
  std::from_chars(digits.data(), digits.data() + digits.size(), otherwise, base);
  return otherwise;
}

/// Follows readelf's account of an object file's line tables for the rows of the addresses that are asked for: addr2line
/// prints no columns, and takes the first source file of a table in DWARF 5 for another one (binutils 2.40).
class LineTable {
 public:
  /// \param offsets  sorted
  explicit LineTable(std::vector<std::uintptr_t> offsets) : offsets_{std::move(offsets)} {}

  /// "  [0x00000275]  Special opcode 117: advance Address by 8 to 0x1377e and Line by 0 to 17" and its like.
  void take(std::string_view text) {
    const auto begin = text.find("]  ");
    if (!text.starts_with("  [0x") || begin == std::string_view::npos) return take_name(text);
    text.remove_prefix(begin + 3);
    if (text.starts_with("Set column to ")) {
      state_.column = number_after(text, "Set column to ", 10, 0U);
    } else if (text.starts_with("Set File Name to entry ")) {
      state_.file = number_after(text, "Set File Name to entry ", 10, 0U);
    } else if (text.starts_with("Advance Line by ")) {
      state_.line = number_after(text, " to ", 10, state_.line);
    } else if (text.starts_with("Advance PC by ")) {
      state_.address = number_after(text, " to ", 16, state_.address);
    } else if (text.starts_with("Special opcode ")) {
      state_.address = number_after(text, " to ", 16, state_.address);
      const auto line = text.find(" and Line by ");
      if (line != std::string_view::npos)
        state_.line = number_after(text.substr(line), " to ", 10, state_.line);
      add_row();
    } else if (text.starts_with("Copy")) {
      add_row();
    } else if (text.find(": set Address to ") != std::string_view::npos) {
      state_.address = number_after(text, ": set Address to ", 16, state_.address);
    } else if (text.find(": End of Sequence") != std::string_view::npos) {
      add_row();
      last_.reset();
      state_ = {};
    }
  }

  /// Adds to a location that addr2line has told of an address what the tables know better.
  void complete(std::uintptr_t offset, SourceLocation& location) const {
    const auto known = rows_.find(offset);
    if (known == rows_.end() || known->second.line != location.line) return;
    location.column = known->second.column;
    if (!known->second.file.empty()) location.file = known->second.file;
  }

 private:
  void add_row() {
    if (last_) {
      auto offset = std::ranges::lower_bound(offsets_, last_->address);
      for (; offset != offsets_.end() && *offset < state_.address; ++offset)
        rows_[*offset] = {file_name(last_->file), last_->line, last_->column};
    }
    last_ = state_;
  }

  /// "  1\t0\t(indirect line string, offset: 0x10): kernel.cuh" in a table of names, which precedes a unit's rows: the
  /// numbers are the entry's and, in the table of files, that of its directory.
  void take_name(std::string_view text) {
    if (text.starts_with(" The Directory Table")) {
      directories_.clear();
      names_.clear();
      is_directory_ = true;
    } else if (text.starts_with(" The File Name Table")) {
      names_.clear();
      is_directory_ = false;
    }
    const auto name = text.find("): ");
    if (!text.starts_with("  ") || text.find("\t(indirect") == std::string_view::npos ||
        name == std::string_view::npos)
      return;
    (is_directory_ ? directories_ : names_).emplace_back(text.substr(name + 3));
    if (!is_directory_) directory_of_.resize(names_.size());
    if (!is_directory_) directory_of_.back() = number_after(text, "\t", 10, std::size_t{0});
  }

  /// With its path; "" if the tables have not been understood.
  std::string file_name(unsigned index) const {
    if (index >= names_.size() || directory_of_[index] >= directories_.size()) return "";
    std::filesystem::path path{directories_[0]};  // the compiler's, from which the others count
    path /= directories_[directory_of_[index]];
    return (path / names_[index]).string();
  }

  std::vector<std::string> directories_;
  std::vector<std::string> names_;
  std::vector<std::size_t> directory_of_;
  bool is_directory_ = true;

  std::vector<std::uintptr_t> offsets_;
  std::map<std::uintptr_t, SourceLocation> rows_;
  Row state_;
  std::optional<Row> last_;
};

bool is_of_the_device(const SourceLocation& location) {
  return location.file.find("/common/emulated/") != std::string::npos;
}

/// Whether the compiler has seen another line: what stands for a declaration of shared memory is longer.
bool is_rewritten(const SourceLocation& location) {
  const std::optional<std::string> line = source_line(location);
  return line && line->find("__shared__") != std::string::npos;
}

/// Looks up addresses of one file.
std::vector<CodeLocation> look_up(const std::string& file, const std::vector<std::uintptr_t>& offsets) {
  std::vector<std::string> command{"addr2line", "-afCie", file};
  for (const std::uintptr_t offset : offsets) {
    std::ostringstream text;
    text << "0x" << std::hex << offset;
    command.push_back(std::move(text).str());
  }
  // An address, then a function and a location for each frame.
  std::vector<CodeLocation> locations;
  bool is_function = true;
  std::string callee;
  for_each_line_of(command, [&](std::string_view line) {
    if (is_function && line.starts_with("0x")) {
      locations.emplace_back();
      callee.clear();
      return;
    }
    if (locations.empty()) return;
    CodeLocation& location = locations.back();
    if (is_function) {
      callee = name_in_source(location.function);
      location.function = line == "??" ? "" : line;  // the last one is that in which the others are inlined
    } else {
      location.frames.push_back(parse_location(line));
      if (!callee.empty()) location.frames.back().column = column_of(callee, location.frames.back());
    }
    is_function = !is_function;
  });
  locations.resize(offsets.size());

  std::vector<std::uintptr_t> sorted{offsets};
  std::ranges::sort(sorted);
  LineTable table{std::move(sorted)};
  for_each_line_of({"readelf", "--debug-dump=rawline", file},
                   [&](std::string_view line) { table.take(line); });
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    std::vector<SourceLocation>& frames = locations[i].frames;
    if (!frames.empty()) table.complete(offsets[i], frames[0]);
    if (!frames.empty() && is_rewritten(frames[0])) frames[0].column = 0;
    if (!std::ranges::all_of(frames, is_of_the_device)) std::erase_if(frames, is_of_the_device);
    std::erase(frames, SourceLocation{});
  }
  return locations;
}

}  // namespace

std::vector<CodeLocation> locate(std::span<const void* const> addresses) {
  static std::mutex mutex;
  static std::map<const void*, CodeLocation> known;
  const std::lock_guard lock{mutex};
  struct Wanted {
    std::vector<const void*> addresses;
    std::vector<std::uintptr_t> offsets;
  };
  std::map<std::string, Wanted> files;
  for (const void* const address : addresses) {
    if (!known.try_emplace(address).second) continue;
    const ObjectAddress object = object_address(address);
    if (object.file.empty()) continue;
    files[object.file].addresses.push_back(address);
    files[object.file].offsets.push_back(object.offset);
  }
  for (const auto& [file, wanted] : files) {
    std::vector<CodeLocation> found = look_up(file, wanted.offsets);
    for (std::size_t i = 0; i < found.size(); ++i)
      known[wanted.addresses[i]] = std::move(found[i]);
  }
  std::vector<CodeLocation> locations;
  for (const void* const address : addresses)
    locations.push_back(known[address]);
  return locations;
}

CodeLocation locate(const void* address) { return locate(std::span{&address, 1}).front(); }

}  // namespace __emulated
