#include "rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "emulated/run/host_threads.hpp"

namespace reduction {

namespace {

/// What should be left of a row, or of a column.
struct Line {
  double sum = 0, magnitude = 0, largest = -std::numeric_limits<double>::infinity();
  double second = 0;  ///< the sum of the squared differences from the mean, or of the exponentials
  std::int64_t first_largest = -1;
};

using LineAt = std::function<double(std::size_t i)>;

Line make_line(std::string_view operation, std::size_t count, const LineAt& at) {
  Line line;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = at(i);
    line.sum += x;
    line.magnitude += std::abs(x);
    if (i == 0 || x > line.largest) line.first_largest = static_cast<std::int64_t>(i);
    line.largest = std::max(line.largest, x);
  }
  const double mean = line.sum / static_cast<double>(count);
  for (std::size_t i = 0; i < count && operation == "variance"; ++i)
    line.second += (at(i) - mean) * (at(i) - mean);
  for (std::size_t i = 0; i < count && operation == "softmax"; ++i)
    line.second += std::exp(at(i) - line.largest);
  return line;
}

/// Calls work(index) for each of so many lines, on all CPUs: some at a time, for there may be millions.
template <typename Work> void for_each_line(std::size_t lines, const Work& work) {
  constexpr std::size_t chunk = 64;
  __emulated::parallel_for((lines + chunk - 1) / chunk, [&](std::size_t k) {
    for (std::size_t index = k * chunk; index < std::min(lines, (k + 1) * chunk); ++index)
      work(index);
  });
}

/// NaN is right where it is expected, and wrong elsewhere.
bool is_near(double found, double expected, double tolerance) {
  if (std::isnan(expected)) return std::isnan(found);
  return found == expected || std::abs(found - expected) <= tolerance;
}

/// Looks at result number `index`.
bool is_right(const RowKernel& kernel, std::size_t index, const void* results, const Line& line,
              std::size_t count, const LineAt& at) {
  const auto n = static_cast<double>(count);
  const auto number = [&](std::size_t k) { return static_cast<double>(value_at<float>(results, k)); };
  // Of a thread's own elements, or 16 if it has fewer, and of the trees; what is more than a sum takes some operations.
  const double additions = std::max(16.0, n / kernel.threads) + 24;
  const double rounding = 4 * additions * std::numeric_limits<float>::epsilon() / 2;
  if (kernel.operation == "sum") return is_near(number(index), line.sum, rounding * line.magnitude);
  if (kernel.operation == "max") return is_near(number(index), line.largest, 0);
  if (kernel.operation == "argmax") {
    if (kernel.name == "CUB") return value_at<std::int32_t>(results, 2 * index) == line.first_largest;
    if (kernel.name == "header") return value_at<std::int64_t>(results, 2 * index + 1) == line.first_largest;
    return value_at<std::int64_t>(results, index) == line.first_largest;
  }
  if (kernel.operation == "variance") {
    const double of_mean = rounding * line.magnitude / n;
    const double variance = line.second / n;
    return is_near(number(2 * index), line.sum / n, of_mean) &&
           is_near(number(2 * index + 1), variance, rounding * variance + of_mean * of_mean);
  }
  if (kernel.operation != "softmax") throw std::logic_error("check_rows.cpp does not know the operation");
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = std::exp(at(i) - line.largest) / line.second;
    const double tolerance = rounding * expected + std::numeric_limits<float>::min();
    if (!is_near(number(index * count + i), expected, tolerance)) return false;
  }
  return true;
}

}  // namespace

RowCheck make_row_check(const RowKernel& first, const Matrix& matrix, const ElementAt& element) {
  const bool of_columns = first.of_columns();
  const std::size_t count = of_columns ? matrix.rows : matrix.width;
  const auto line_at = [=](std::size_t index) -> LineAt {
    return [=](std::size_t i) { return of_columns ? element(i, index) : element(index, i); };
  };
  std::vector<Line> lines(of_columns ? matrix.width : matrix.rows);
  for_each_line(lines.size(),
                [&](std::size_t k) { lines[k] = make_line(first.operation, count, line_at(k)); });
  return [count, of_columns, line_at, lines = std::move(lines)](const RowKernel& kernel,
                                                                const void* results) -> std::string {
    std::atomic<std::size_t> wrong{lines.size()};
    for_each_line(lines.size(), [&](std::size_t k) {
      if (k < wrong && !is_right(kernel, k, results, lines[k], count, line_at(k))) wrong = k;
    });
    if (wrong == lines.size()) return "";
    return fmt::format("{} {} is wrong, for example", of_columns ? "column" : "row", wrong.load());
  };
}

}  // namespace reduction
