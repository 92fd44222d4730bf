#pragma once
#include <string>

#include "device/emulated/finding.hpp"

namespace reduction::emulated {

/// What the program's debug information says about an address in its code.
struct CodeLocation {
  std::string function;  ///< with its template arguments and parameters, "" if not known
  Place place;           ///< of the kernel's own source: calls inlined from the emulated device are skipped
};

/// Looks an address up, the first time with addr2line, which comes with the compiler's binutils: only a
/// finding needs it, so that a run without one pays nothing.
/// \param address  an instruction, such as the one before a return address.
CodeLocation locate(const void* address);

}  // namespace reduction::emulated
