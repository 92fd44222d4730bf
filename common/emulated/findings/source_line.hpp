#pragma once
#include <cstring>

namespace __emulated {

/// A line of a kernel. As a default argument, current() names the caller's line; clang 14 with libstdc++ has
/// no std::source_location, so this stands on the builtins beneath it.
struct SourceLine {
  const char* file = "";
  unsigned line = 0;

  static constexpr SourceLine current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }

  bool operator==(const SourceLine& other) const {
    return line == other.line && (file == other.file || std::strcmp(file, other.file) == 0);
  }
};

}  // namespace __emulated
