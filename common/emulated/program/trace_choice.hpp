#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace emulated_program {

/// The block that is to be traced, of a launch, and the file for it.
struct TraceChoice {
  std::string file;      ///< .html, or .json
  std::string kernel{};  ///< its name in the source; "" for any
  std::optional<std::size_t>
      launch{};  ///< of that kernel, from 1: the first that is wrong if none is given, or else the first,
  std::optional<std::size_t> block{};  ///< and that block

  /// "FILE:KERNEL:LAUNCH:BLOCK", as --trace takes it.
  std::string text() const;
};

/// Reads FILE[:KERNEL[:LAUNCH[:BLOCK]]]; nothing if it is none.
std::optional<TraceChoice> trace_choice(std::string_view text);

}  // namespace emulated_program
