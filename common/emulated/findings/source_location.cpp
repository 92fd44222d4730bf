#include "emulated/findings/source_location.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>

#include "emulated/findings/source_text.hpp"

namespace __emulated {

std::string name_in_source(std::string_view function) {
  int depth = 0;
  std::string name;
  for (const char c : function) {
    if (c == '<') ++depth;
    if (depth == 0) {
      // "(anonymous namespace)::" begins like a parameter list, and ends like any other scope.
      if ((c == '(' || c == '.') && !name.empty()) break;
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

std::string in_quotes(std::string text) {
  for (auto at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 4))
    text.replace(at, 1, "'\\''");
  return '\'' + text + '\'';
}

void for_each_line_of(const std::string& command, const std::function<void(const std::string&)>& take) {
  std::FILE* const output = popen(("LC_ALL=C " + command + " 2>/dev/null").c_str(), "re");
  if (output == nullptr) return;
  char* line = nullptr;
  std::size_t capacity = 0;
  for (ssize_t length = 0; (length = getline(&line, &capacity, output)) > 0;)
    take({line, static_cast<std::size_t>(line[length - 1] == '\n' ? length - 1 : length)});
  std::free(line);
  pclose(output);
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  text.remove_prefix(text.starts_with('<') ? 1 : 0);
  const bool is_negative = text.starts_with('-');
  const bool is_hexadecimal = text.starts_with("0x");
  text.remove_prefix(is_negative ? 1 : is_hexadecimal ? 2 : 0);
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number, is_hexadecimal ? 16 : 10);
  if (read.ec != std::errc{}) return std::nullopt;
  return is_negative ? -number : number;
}

AddressInFile address_in_file(const void* address) {
  Dl_info symbol{};
  link_map* object = nullptr;
  if (dladdr1(address, &symbol, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0) return {};
  // The program itself is listed without a name.
  const std::string name = object->l_name;
  return {name.empty() ? std::filesystem::read_symlink("/proc/self/exe").string() : name,
          reinterpret_cast<std::uintptr_t>(address) - object->l_addr};
}

namespace {

/// What is to be looked up in one file, by its addresses as the file's own tables count.
using Wanted = std::map<std::uintptr_t, CodeLocation*>;

/// "file:line", or "file:line (discriminator 3)".
SourceLocation parse_location(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  SourceLocation location{std::string{text.substr(0, colon)}};
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), location.line);
  return location.line == 0 ? SourceLocation{} : location;
}

/// The functions and the frames, but for the columns of the innermost ones, which addr2line does not print.
void add_frames(const std::string& file, const Wanted& wanted) {
  std::ostringstream command;
  command << "addr2line -afCie " << in_quotes(file) << std::hex;
  for (const auto& [address, location] : wanted)
    command << " 0x" << address;
  // An address, then a function and a location for each frame.
  auto next = wanted.begin();
  CodeLocation* location = nullptr;
  bool is_function = true;
  std::string callee;
  for_each_line_of(command.str(), [&](std::string_view line) {
    if (is_function && line.starts_with("0x")) {
      location = next != wanted.end() ? (next++)->second : nullptr;
      callee.clear();
      return;
    }
    if (location == nullptr) return;
    if (is_function) {
      callee = name_in_source(location->function);
      location->function = line == "??" ? "" : line;  // the last one is that in which the others are inlined
    } else {
      const bool is_of_rewriter = name_in_source(location->function).starts_with("__emulated_launch_");
      location->frames.push_back(is_of_rewriter ? SourceLocation{} : parse_location(line));
      if (!callee.empty()) location->frames.back().column = column_of(callee, location->frames.back());
    }
    is_function = !is_function;
  });
}

/// A row of a line table: what holds from its address on, up to that of the next one.
struct Row {
  std::uintptr_t address = 0;
  unsigned line = 1;
  unsigned column = 0;
};

/// The number behind the " to " that is there.
std::uintptr_t number_at(std::string_view text, std::size_t to) {
  return to == std::string_view::npos ? 0 : number_in(text.substr(to + 4)).value_or(0);
}

/// Follows readelf's account of the file's line tables, as in "  [0x00000275]  Special opcode 117: advance Address by 8 to
/// 0x1377e and Line by 0 to 17", for the columns of the innermost frames.
void add_columns(const std::string& file, const Wanted& wanted) {
  Row state;
  std::optional<Row> last;
  const auto add_row = [&] {
    auto reached = wanted.lower_bound(last ? last->address : state.address);
    for (; reached != wanted.end() && reached->first < state.address; ++reached) {
      std::vector<SourceLocation>& frames = reached->second->frames;
      if (!frames.empty() && frames[0].line == last->line) frames[0].column = last->column;
    }
    last = state;
  };
  for_each_line_of("readelf --debug-dump=rawline " + in_quotes(file), [&](std::string_view text) {
    const auto begin = text.find("]  ");
    if (!text.starts_with("  [0x") || begin == std::string_view::npos) return;
    text.remove_prefix(begin + 3);
    const std::uintptr_t first_number = number_at(text, text.find(" to "));
    const auto last_number = static_cast<unsigned>(number_at(text, text.rfind(" to ")));
    if (text.starts_with("Set column to ")) {
      state.column = last_number;
    } else if (text.starts_with("Advance Line by ")) {
      state.line = last_number;
    } else if (text.starts_with("Advance PC by ") ||
               text.find(": set Address to ") != std::string_view::npos) {
      state.address = first_number;
    } else if (text.starts_with("Special opcode ")) {
      state.address = first_number;
      state.line = last_number;
      add_row();
    } else if (text.starts_with("Copy")) {
      add_row();
    } else if (text.find(": End of Sequence") != std::string_view::npos) {
      add_row();
      last.reset();
      state = {};
    }
  });
}

bool is_of_the_device(const SourceLocation& location) {
  return location.file.find("/common/emulated/") != std::string::npos;
}

/// Whether the compiler has seen another line: what stands for a launch, a declaration of shared memory, or PTX, is longer.
bool is_rewritten(const SourceLocation& location) {
  const std::optional<std::string> line = source_line(location);
  constexpr std::array replaced{"__shared__", "asm", "<<<"};
  return line && std::ranges::any_of(replaced,
                                     [&](const char* word) { return line->find(word) != std::string::npos; });
}

void look_up(const std::string& file, const Wanted& wanted) {
  add_frames(file, wanted);
  add_columns(file, wanted);
  for (const auto& [address, location] : wanted) {
    std::vector<SourceLocation>& frames = location->frames;
    const SourceLocation outermost = frames.empty() ? SourceLocation{} : frames.back();
    if (!frames.empty() && is_rewritten(frames[0])) frames[0].column = 0;
    if (!std::ranges::all_of(frames, is_of_the_device)) std::erase_if(frames, is_of_the_device);
    std::erase(frames, SourceLocation{});
    location->ends_in_function = !frames.empty() && frames.back() == outermost;
  }
}

}  // namespace

bool is_of_the_program(const SourceLocation& location) {
  return location.line != 0 && !location.file.starts_with("/usr/") && !is_of_the_device(location);
}

std::vector<CodeLocation> locate(std::span<const void* const> addresses) {
  static std::mutex mutex;
  static std::map<const void*, CodeLocation> known;
  const std::lock_guard lock{mutex};
  std::map<std::string, Wanted> files;
  for (const void* const address : addresses) {
    const auto [location, is_new] = known.try_emplace(address);
    if (!is_new) continue;
    const AddressInFile place = address_in_file(address);
    if (!place.file.empty()) files[place.file].emplace(place.address, &location->second);
  }
  for (const auto& [file, wanted] : files)
    look_up(file, wanted);
  std::vector<CodeLocation> locations;
  for (const void* const address : addresses)
    locations.push_back(known[address]);
  return locations;
}

CodeLocation locate(const void* address) { return locate(std::span{&address, 1}).front(); }

}  // namespace __emulated
