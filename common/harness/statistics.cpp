#include "harness/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

namespace reduction {

double quantile(const std::vector<double>& ascending, double q) {
  const double position = q * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return std::lerp(ascending[below], ascending[above], position - std::floor(position));
}

Summary summarise(std::vector<double> samples) {
  if (samples.empty()) throw std::invalid_argument("no samples to summarise");
  std::sort(samples.begin(), samples.end());
  return {.median = quantile(samples, 0.5),
          .p5 = quantile(samples, 0.05),
          .p95 = quantile(samples, 0.95),
          .minimum = samples.front()};
}

}  // namespace reduction
