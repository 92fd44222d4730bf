#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace __emulated {

/// What the source says of a variable in shared memory, as in `__shared__ float tile[32][33];`.
struct SharedDeclaration {
  const char* name;
  std::size_t element_bytes;
  std::span<const std::size_t> extents;  ///< one per dimension, the first of an extern array unknown
};

/// A variable in a block's shared memory.
struct SharedVariable {
  const SharedDeclaration* declaration;
  std::size_t offset;  ///< from the beginning of shared memory
  std::size_t bytes;

  /// One per dimension. The launch gives the first of an extern array.
  std::vector<std::size_t> extents() const;

  /// What an access covers, in or beside the variable: "tile[1][0]", "acc[4] to acc[7]", "byte 2 of last".
  /// \param position  from the beginning of shared memory.
  std::string name_of(std::ptrdiff_t position, std::size_t count) const;

  /// "(tile has 32 x 33 elements)".
  std::string size_text() const;
};

}  // namespace __emulated
