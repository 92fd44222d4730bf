#pragma once

#include <array>
#include <cstdint>

#include "harness/element_type.hpp"
#include "harness/input.hpp"
#include "harness/value.hpp"

namespace reduction {

/// A sum of reals held as the unevaluated sum of two doubles, and the sum of their absolute values.
/// Every addition keeps its rounding error (TwoSum: Knuth, The Art of Computer Programming, volume 2, 4.2.2).
struct ReferenceSum {
  double high = 0;
  double low = 0;
  double magnitude = 0;

  void add(double x);
  void add(const ReferenceSum& other);
};

/// What the reduction of an input should give, in more precision than any step has.
struct Reference {
  ElementType type = ElementType::int32;
  std::uint64_t integer = 0;            ///< integer types: the sum modulo 2^64
  std::array<ReferenceSum, 2> parts{};  ///< floating-point types: real and imaginary part
};

/// Sums the input on all CPUs of this process without storing it. The result does not depend on their number.
Reference reference_sum(const Input& input, ElementType type);

/// Rounds the reference to its element type.
Value to_value(const Reference& reference);

}  // namespace reduction
