#pragma once

#include <vector>

namespace reduction {

/// A summary of repeated measurements, in their unit.
struct Summary {
  double median = 0;
  double p5 = 0;
  double p95 = 0;
  double minimum = 0;

  /// Returns (p95 - p5) / median: how far apart nine samples in ten lie.
  double spread() const { return median > 0 ? (p95 - p5) / median : 0; }
};

/// Returns the q-quantile (0 <= q <= 1) of ascending samples, interpolated linearly between neighbours
/// (definition 7 of Hyndman and Fan, "Sample quantiles in statistical packages", 1996).
double quantile(const std::vector<double>& ascending, double q);

/// Summarises samples in any order. Throws std::invalid_argument if there are none.
Summary summarise(std::vector<double> samples);

}  // namespace reduction
