#pragma once
#include <cstdint>
#include <functional>
#include <optional>
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
      frames;                     ///< innermost first: in an inlined function, then at its call, and so on
  bool ends_in_function = false;  ///< the last frame is the function's own
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

/// Where the program, or a library that it has loaded, has an address, as the file's own tables count. "" for none.
struct AddressInFile {
  std::string file;
  std::uintptr_t address = 0;
};
AddressInFile address_in_file(const void* address);

/// Runs a command and hands over each line that it prints, in English; none if there is no such program.
void for_each_line_of(const std::string& command, const std::function<void(const std::string&)>& take);
std::string in_quotes(std::string text);
/// That a text of readelf's begins with, such as "-1" or "<0x2f>".
std::optional<std::uint64_t> number_in(std::string_view text);

}  // namespace __emulated
