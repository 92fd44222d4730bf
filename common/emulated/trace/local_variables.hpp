#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulated/trace/activation.hpp"

namespace __emulated {

/// Of an expression in DWARF (version 4, chapter 2.5): "breg", 3 and 16 of "DW_OP_breg3 (rbx): 16".
struct DwarfOperation {
  std::string name;
  std::uint64_t number = 0;
  std::uint64_t operand = 0;
};

/// A variable of a function, with a location if it is a number or truth value, as the debug information has it for one place in the code.
struct LocalVariable {
  enum class Encoding : std::uint64_t {
    truth = 2,
    real = 4,
    integer = 5,
    natural = 7
  };  // as DWARF numbers them

  std::string name;
  unsigned line = 0;  ///< of its declaration
  Encoding encoding{};
  std::size_t bytes = 0;
  std::vector<DwarfOperation> location;    ///< how to find it; empty: nowhere
  std::vector<DwarfOperation> frame_base;  ///< where "fbreg" counts from
  bool may_be_unset = false;               ///< it is there from the beginning, before it has a value

  /// Its bits. Nothing where they are not known for sure.
  std::optional<std::uint64_t> value_in(const Activation& activation) const;
};

/// The variables of the function at each instruction, of inner scopes behind those of outer ones. What is inlined there has
/// none. Reads what readelf prints of the debug information, in DWARF 4, that kernels are compiled with.
std::vector<std::vector<LocalVariable>> local_variables(std::span<const void* const> instructions);

}  // namespace __emulated
