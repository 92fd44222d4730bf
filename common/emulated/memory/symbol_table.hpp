#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace __emulated {

/// A program's source is compiled twice: for the host, and for the device, where all that it defines has a name that ends so.
/// So each kernel and each variable of the device has a counterpart, as with nvcc.
inline constexpr std::string_view device_suffix = ".on_device";

/// A function, a variable or whatever else has a name in a file of code.
struct Symbol {
  const char* name;
  std::uintptr_t value;  ///< its address before the file is loaded
  std::size_t bytes;
  bool is_variable;
  std::string_view section;
  std::size_t alignment;  ///< of the section
  bool is_local;          ///< no other file knows it

  bool is_of_device() const { return std::string_view{name}.ends_with(device_suffix); }
  /// That of its counterpart, too.
  std::string_view common_name() const {
    const std::string_view whole = name;
    return whole.substr(0, whole.size() - (is_of_device() ? device_suffix.size() : 0));
  }
};

/// What an object file or a program defines, in the order of its table; nothing if it has been stripped of that, or cannot be
/// mapped. It stays mapped.
std::vector<Symbol> symbols_of(const char* file);
/// The same of the program itself, which is read once.
const std::vector<Symbol>& symbols_of_the_program();

/// Where the program has been loaded: its symbols are so much further on.
std::uintptr_t begin_of_the_program();

/// "k<32>(float*)" of "_Z1kILi32EEvPf", and itself where it is no name of C++.
std::string demangled(const char* name);

/// Where `__managed__` variables are, which host and device share.
inline constexpr std::string_view managed_section = "__emulated_managed";

}  // namespace __emulated
