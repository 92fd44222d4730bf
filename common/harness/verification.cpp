#include "harness/verification.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "emulated/run/host_threads.hpp"

namespace reduction {

namespace {

/// The chunk's own sum, element by element.
template <typename Real> Reference sum_chunk(const Input& input, ElementType type, std::uint64_t first) {
  Reference sum{type};
  const std::uint64_t parts = parts_of(type);
  const std::uint64_t last = std::min(input.n, first + reference_chunk);
  for (std::uint64_t i = first; i < last; ++i) {
    for (std::uint64_t part = 0; part < parts; ++part) {
      const Real x = real_at<Real>(input, i, part, parts);
      if constexpr (std::is_integral_v<Real>) {
        sum.integer += x;
      } else {
        sum.parts[part].add(static_cast<double>(x));
      }
    }
  }
  return sum;
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

void ReferenceSum::add(double x) {
  const double sum = high + x;
  const double high_share = sum - x;
  low += (high - high_share) + (x - (sum - high_share));
  high = sum;
  magnitude += std::abs(x);
}

void ReferenceSum::add(const ReferenceSum& other) {
  const double total = magnitude + other.magnitude;
  add(other.high);
  add(other.low);
  magnitude = total;
}

void Reference::add(const Reference& other) {
  integer += other.integer;
  for (std::size_t part = 0; part < parts.size(); ++part)
    parts[part].add(other.parts[part]);
}

Reference reference_sum(const Input& input, ElementType type, const ReferencePart& part) {
  const std::uint64_t chunks = (input.n + reference_chunk - 1) / reference_chunk;
  // One sum for each chunk of this part only: of a huge input, other processes have the others.
  std::vector<Reference> sums((chunks + part.of - 1 - part.part) / part.of);
  visit_real(type, [&]<typename Real>(Real) {
    __emulated::parallel_for(sums.size(), [&](std::size_t k) {
      sums[k] = sum_chunk<Real>(input, type, (part.part + k * part.of) * reference_chunk);
    });
  });

  Reference total{type};
  for (const Reference& sum : sums)
    total.add(sum);
  return total;
}

Value to_value(const Reference& reference) {
  Value value{reference.type};
  visit_real(reference.type, [&]<typename Real>(Real) {
    for (std::size_t part = 0; part < parts_of(reference.type); ++part) {
      Real real;
      if constexpr (std::is_integral_v<Real>) {
        real = static_cast<Real>(reference.integer);
      } else {
        real = static_cast<Real>(reference.parts[part].high + reference.parts[part].low);
      }
      std::memcpy(value.bytes.data() + part * sizeof(Real), &real, sizeof(Real));
    }
  });
  return value;
}

double rounding_bound(double magnitude, std::uint64_t depth, double rounding_unit) {
  const double terms = static_cast<double>(depth) * rounding_unit;
  return terms < 1 ? magnitude * terms / (1 - terms) : std::numeric_limits<double>::infinity();
}

Verdict verify(const Value& result, const Reference& reference, std::uint64_t depth) {
  return visit_real(result.type, [&]<typename Real>(Real) {
    if constexpr (std::is_integral_v<Real>) {
      // Modulo 2^32 or 2^64: the error is how far the sums are apart, the shorter way round.
      const Real excess = part_of<Real>(result, 0) - static_cast<Real>(reference.integer);
      const Real distance = std::min<Real>(excess, Real{0} - excess);
      return Verdict{distance == 0, static_cast<double>(distance), 0.0};
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
