#pragma once
/// \file
/// kernel.cuh as the compiled program sees it: a table for each kind of device. C++17, for nvcc reads it, too.

#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "matrix.hpp"

namespace reduction {

/// A way to reduce each row, or each column.
struct RowKernel {
  std::string_view name;       ///< "warp": a warp per row
  std::string_view operation;  ///< "sum"
  std::size_t result_bytes;    ///< of a row, of a column or, in a softmax, of an element
  unsigned threads;  ///< of its elements, so many partial results are combined as a tree, of 16 or more each
  /// Queues it. Throws DeviceError if the device refuses a launch.
  void (*launch)(const float* in, void* out, const Matrix& matrix);
  /// What it takes at most: of a row, and in all, with the gaps between rows.
  std::size_t most_width = std::numeric_limits<std::size_t>::max();
  std::size_t most_elements = std::numeric_limits<std::size_t>::max();

  bool of_columns() const { return name == "columns"; }

  /// Returns how many results it leaves.
  std::size_t results(const Matrix& m) const {
    if (operation == "softmax") return m.rows * m.width;
    return of_columns() ? m.width : m.rows;
  }
};

using RowKernels = std::vector<RowKernel>;

/// Returns those of the emulated device (emulated_rows.cpp).
const RowKernels& emulated_row_kernels();

/// Returns an element by its row and its number in it.
using ElementAt = std::function<float(std::size_t row, std::size_t i)>;

/// Returns result number `index`.
template <typename T> T value_at(const void* results, std::size_t index) {
  T value;
  std::memcpy(&value, static_cast<const T*>(results) + index, sizeof(T));
  return value;
}

/// Compares what a kernel has left with what it should be: a maximum and an index exactly, other numbers within what
/// rounding of so many additions can explain: of a thread with a million elements that is much. Returns "", or says which
/// of them is wrong, for example.
using RowCheck = std::function<std::string(const RowKernel& kernel, const void* results)>;

/// Works out, in double precision, what a kernel should leave, and all others of its operation that are of rows, or of
/// columns, as it is. No element is NaN.
RowCheck make_row_check(const RowKernel& kernel, const Matrix& matrix, const ElementAt& element);

/// This step, as its main.cu names it.
struct RowStep {
  std::string_view name;
  std::string_view title;
  const RowKernels* cuda;  ///< null in a build without CUDA
  const RowKernels* emulated;
};

/// Does all that main does, from the command line to the report. Returns the exit code (exit_code.hpp).
int run_rows(const RowStep& step, int argc, char** argv);

}  // namespace reduction
