#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "emulated/rewrite/code.hpp"

namespace emulated_rewrite {

/// Whether the variable that is declared with this __constant__ is const.
bool is_constant(const Code& code, std::size_t word);

/// Whether a variable outside of functions, which is not const, is declared with this __device__ and no other such word.
bool is_device_variable(const Code& code, std::size_t word);

struct SharedVariable {
  std::size_t name = none;
  std::vector<std::size_t> dimensions;  ///< the "[" of each
};

/// A declaration of __shared__ variables.
struct SharedDeclaration {
  Scope scope;
  bool dynamic = false;       ///< declared extern
  bool defines_type = false;  ///< such as `struct { int a; }`
  std::size_t type = none;
  std::vector<SharedVariable> variables;
  /// What only nvcc knows, or a reference does not take: the first and last token of each.
  std::vector<std::pair<std::size_t, std::size_t>> specifiers;
  std::size_t end;  ///< its ";"
};

/// Throws RewriteError for a declaration of a form, or in a place, that the emulated device does not know.
SharedDeclaration read_shared_declaration(const Code& code, std::size_t word);

/// Whether a variable's name, which begins with its namespaces, stands where none is declared. It says no where that cannot be
/// told.
bool is_expression(const Code& code, std::size_t begin, std::size_t name);

}  // namespace emulated_rewrite
