#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "emulated/rewrite/code.hpp"

namespace emulated_rewrite {

/// An asm statement.
struct Assembly {
  std::size_t open, close;          ///< its parentheses
  std::vector<std::size_t> colons;  ///< before outputs, inputs and what it overwrites
  /// The constraint of each operand: its first token, and the "(" behind it.
  std::vector<std::pair<std::size_t, std::size_t>> operands;
  bool is_literal = true;  ///< whether no macro makes a part of its text
  /// What has to mean something in such a text: instructions, and special registers if it declares none of its own.
  std::vector<std::string> names;

  /// Whether its first instruction has types or modifiers, as those of a host's processor have not.
  bool looks_like_ptx() const;
};

/// Where its keyword is; close is none if it is none.
Assembly read_assembly(const Code& code, std::size_t word);

}  // namespace emulated_rewrite
