#include "harness/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "device/host_threads.hpp"

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
    parallel_for(sums.size(), [&](std::size_t k) {
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

}  // namespace reduction
