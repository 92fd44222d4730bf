#pragma once

#include <cstdint>

#include "harness/reference.hpp"
#include "harness/value.hpp"

namespace reduction {

/// The comparison of a result with its reference.
struct Verdict {
  bool verified = false;
  double error = 0;      ///< |result - reference|; of a complex value, its worse component
  double tolerance = 0;  ///< what rounding alone can explain in that component; 0 for integers
};

/// A sum and what the comparison with its reference found.
struct CheckedSum {
  Value value;
  Verdict verdict;
};

/// Returns how far rounding can move a sum of numbers whose absolute values add up to `magnitude`, when every element
/// goes through at most `depth` additions: magnitude * depth * u / (1 - depth * u) (Higham, Accuracy and Stability of
/// Numerical Algorithms, 2nd edition, 2002, section 4.2).
double rounding_bound(double magnitude, std::uint64_t depth, double rounding_unit);

/// Compares: integers must agree exactly; of floating-point values every component must be within the rounding bound of
/// `depth` additions. NaN never verifies.
Verdict verify(const Value& result, const Reference& reference, std::uint64_t depth);

}  // namespace reduction
