#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace emulated_program {

/// The block that is to be traced, of a launch, and the file for it.
struct TraceChoice {
  std::string file;  ///< .html, or .json
  // What is not chosen is that of the first finding, or else the first.
  std::string kernel{};                 ///< its name in the source
  std::optional<std::size_t> launch{};  ///< of that kernel, or of all, from 1
  std::optional<std::size_t> block{};

  /// "FILE:KERNEL:LAUNCH:BLOCK", as --trace takes it.
  std::string text() const;
};

/// Reads FILE[:KERNEL[:LAUNCH[:BLOCK]]]; nothing if it is none.
std::optional<TraceChoice> trace_choice(std::string_view text);

}  // namespace emulated_program
