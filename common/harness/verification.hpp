#pragma once

#include "harness/input.hpp"

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

  void add(const Reference& other);
};

/// One of `of` parts of an input: every `of`-th chunk of it, from chunk number `part` on.
struct ReferencePart {
  std::uint64_t part = 0;
  std::uint64_t of = 1;
};

/// The elements of a chunk.
inline constexpr std::uint64_t reference_chunk = std::uint64_t{1} << 18;

/// Sums the input, or a part of it, on all CPUs of this process without storing it. The result does not depend on the
/// number of CPUs. The references of all parts add up to that of the input: integers to the bit, reals but for rounding
/// errors far below those of any step.
Reference reference_sum(const Input& input, ElementType type, const ReferencePart& part = {});

/// Rounds the reference to its element type.
Value to_value(const Reference& reference);

/// The comparison of a result with its reference.
struct Verdict {
  bool verified = false;
  double error = 0;      ///< |result - reference|; of a complex value, its worse component
  double tolerance = 0;  ///< what rounding alone can explain in that component; 0 for integers
};

/// Returns how far rounding can move a sum of numbers whose absolute values add up to `magnitude`, when every element
/// goes through at most `depth` additions: magnitude * depth * u / (1 - depth * u) (Higham, Accuracy and Stability of
/// Numerical Algorithms, 2nd edition, 2002, section 4.2).
double rounding_bound(double magnitude, std::uint64_t depth, double rounding_unit);

/// Compares: integers must agree exactly; of floating-point values every component must be within the rounding bound of
/// `depth` additions. NaN never verifies.
Verdict verify(const Value& result, const Reference& reference, std::uint64_t depth);

}  // namespace reduction
