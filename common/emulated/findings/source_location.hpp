#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulated/findings/finding.hpp"

namespace __emulated {

/// What the program's debug information says about an address in its code.
struct CodeLocation {
  std::string function;  ///< in which all frames are inlined, with or without its parameters; "" if not known
  std::vector<SourceLocation>
      frames;  ///< innermost first: in an inlined function, then at its call, and so on
};

/// "reduce_kernel" of "void reduction::reduce_kernel<unsigned int>(unsigned int const*)": what a reader finds in the
/// source. "" for an operator.
std::string name_in_source(std::string_view function);

/// Whether a line is neither of the emulated device nor of a library.
bool is_of_the_program(const SourceLocation& location);

/// Looks addresses up, the first time with addr2line and readelf, which come with the compiler's binutils. Frames in the
/// emulated device's own code, inlined into a kernel, are left out. The innermost frame has the column that readelf gives;
/// that of a call is where its function's name is in the line, if addr2line knows the name. Only a finding or a trace needs
/// it, so a run without pays nothing.
/// \param addresses  of instructions, such as the one before a return address.
std::vector<CodeLocation> locate(std::span<const void* const> addresses);
CodeLocation locate(const void* address);

}  // namespace __emulated
