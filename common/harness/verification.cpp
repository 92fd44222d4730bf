#include "harness/verification.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace reduction {

namespace {

/// Compares two sums modulo 2^32 or 2^64: the error is how far they are apart, the shorter way round.
template <typename Integer> Verdict verify_integer(Integer result, Integer expected) {
  const Integer distance = std::min<Integer>(result - expected, expected - result);
  return {distance == 0, static_cast<double>(distance), 0.0};
}

Verdict verify_real(double result, const ReferenceSum& sum, std::uint64_t depth, double unit) {
  Verdict verdict;
  verdict.error = std::abs((result - sum.high) - sum.low);
  // Rounding the exact sum to the element type is the one addition that even a perfect step has.
  verdict.tolerance = rounding_bound(sum.magnitude, depth + 1, unit);
  verdict.verified = std::isfinite(verdict.error) && verdict.error <= verdict.tolerance;
  return verdict;
}

}  // namespace

double rounding_bound(double magnitude, std::uint64_t depth, double rounding_unit) {
  const double terms = static_cast<double>(depth) * rounding_unit;
  return terms < 1 ? magnitude * terms / (1 - terms) : std::numeric_limits<double>::infinity();
}

Verdict verify(const Value& result, const Reference& reference, std::uint64_t depth) {
  return visit_real(result.type, [&]<typename Real>(Real) {
    if constexpr (std::is_integral_v<Real>) {
      return verify_integer<Real>(part_of<Real>(result, 0), static_cast<Real>(reference.integer));
    } else {
      Verdict worst{true, 0.0, 0.0};
      for (std::size_t part = 0; part < parts_of(result.type); ++part) {
        const auto verdict = verify_real(static_cast<double>(part_of<Real>(result, part)),
                                         reference.parts[part], depth, rounding_unit(result.type));
        // The component furthest outside its own tolerance speaks for the value.
        const bool worse = part == 0 || verdict.error - verdict.tolerance > worst.error - worst.tolerance ||
                           std::isnan(verdict.error);
        if (worse) worst = {worst.verified, verdict.error, verdict.tolerance};
        worst.verified = worst.verified && verdict.verified;
      }
      return worst;
    }
  });
}

}  // namespace reduction
