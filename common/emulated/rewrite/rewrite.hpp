#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace emulated_rewrite {

/// What the rewriter cannot read, in one line of text, and where it is.
struct RewriteError : std::runtime_error {
  RewriteError(std::string_view source, std::size_t offset, const std::string& text);

  std::size_t line;  ///< counted from 1
};

/// Turns what only nvcc can read, launches with <<< >>>, __shared__ variables and PTX, into calls of the emulated
/// device, and has a kernel with __launch_bounds__ check them. Everything else stays as it is, and on its line,
/// so that findings and debuggers name the source's own lines. Works on tokens, before macros are expanded and without knowing any type.
/// Throws RewriteError for a launch or a variable of a form it does not know, and for a comment or a literal
/// without an end.
std::string rewrite(std::string_view source);

/// What stands before it, so that compilers, debuggers and findings name the original.
std::string line_directive(const std::string& original);

}  // namespace emulated_rewrite
