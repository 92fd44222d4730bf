#include "device/emulated/source_location.hpp"

#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

extern char** environ;

namespace reduction::emulated {
namespace {

/// The file that holds an address's code, and the address as that file's own tables count.
struct ObjectAddress {
  std::string file;
  std::uintptr_t offset = 0;
};

ObjectAddress object_address(const void* address) {
  struct Search {
    std::uintptr_t address;
    ObjectAddress found;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* opaque) {
        Search& wanted = *static_cast<Search*>(opaque);
        const std::uintptr_t offset = wanted.address - object->dlpi_addr;
        for (const auto& segment : std::span{object->dlpi_phdr, object->dlpi_phnum}) {
          if (segment.p_type != PT_LOAD || offset - segment.p_vaddr >= segment.p_memsz) continue;
          wanted.found = {object->dlpi_name, offset};
          // The program itself is listed without a name.
          if (wanted.found.file.empty()) wanted.found.file = std::filesystem::read_symlink("/proc/self/exe");
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

/// Runs a program found on PATH and returns what it prints; "" if it cannot run.
std::string output_of(const std::vector<std::string>& command) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return "";
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const bool started = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);

  std::string text;
  std::array<char, 4096> part;
  for (ssize_t count = 0; (count = read(pipe_ends[0], part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  close(pipe_ends[0]);
  if (started) waitpid(child, nullptr, 0);
  return text;
}

/// "file:line", or "file:line (discriminator 3)".
Place parse_place(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  Place place{std::string{text.substr(0, colon)}, 0};
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), place.line);
  return place.line == 0 ? Place{} : place;
}

/// One address's frames, innermost first: a function and a place, a line each.
CodeLocation parse_frames(const std::vector<std::string>& lines) {
  CodeLocation location;
  for (std::size_t i = 0; i + 1 < lines.size(); i += 2) {
    location = {lines[i] == "??" ? "" : lines[i], parse_place(lines[i + 1])};
    if (location.place.file.find("/device/emulated") == std::string::npos) break;
  }
  return location;
}

CodeLocation look_up(const void* address) {
  const ObjectAddress object = object_address(address);
  if (object.file.empty()) return {};
  std::ostringstream offset;
  offset << "0x" << std::hex << object.offset;
  std::istringstream output{output_of({"addr2line", "-fCie", object.file, offset.str()})};
  std::vector<std::string> lines;
  for (std::string line; std::getline(output, line);)
    lines.push_back(line);
  return parse_frames(lines);
}

}  // namespace

CodeLocation locate(const void* address) {
  static std::mutex mutex;
  static std::map<const void*, CodeLocation> known;
  const std::lock_guard lock{mutex};
  const auto [entry, is_new] = known.try_emplace(address);
  if (is_new) entry->second = look_up(address);
  return entry->second;
}

}  // namespace reduction::emulated
