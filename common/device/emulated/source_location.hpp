#pragma once
#include <cstring>
#include <string>

#include "device/emulated/finding.hpp"

namespace reduction::emulated {

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

/// What the program's debug information says about an address in its code.
struct CodeLocation {
  std::string function;  ///< with its template arguments and parameters, "" if not known
  Place place;           ///< of the kernel's own source: calls inlined from the emulated device are skipped
};

/// Looks an address up, the first time with addr2line, which comes with the compiler's binutils. Only a
/// finding needs it, so a run without one pays nothing.
/// \param address  an instruction, such as the one before a return address.
CodeLocation locate(const void* address);

}  // namespace reduction::emulated
