#include "emulated/language/runtime/blas.hpp"

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "emulated/language/small_float_functions.hpp"

namespace __emulated {
namespace {

/// Calls a function with a value of the type.
template <typename Function> auto with(cudaDataType type, const Function& function) {
  switch (type) {
    case CUDA_R_64F: return function(double{});
    case CUDA_R_16F: return function(half{});
    case CUDA_R_16BF: return function(__nv_bfloat16{});
    case CUDA_R_8I: return function(static_cast<signed char>(0));
    case CUDA_R_8U: return function(static_cast<unsigned char>(0));
    case CUDA_R_32I: return function(int{});
    case CUDA_C_32F: return function(std::complex<float>{});
    case CUDA_C_64F: return function(std::complex<double>{});
    default: return function(float{});
  }
}

template <typename T> inline constexpr bool is_complex = false;
template <typename T> inline constexpr bool is_complex<std::complex<T>> = true;

/// One of these types as another: small floats by way of float.
template <typename To, typename From> To converted(const From& value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_complex<From> && is_complex<To>) {
    return To(value);
  } else if constexpr (is_complex<From>) {
    return converted<To>(value.real());
  } else if constexpr (is_complex<To>) {
    return To(converted<typename To::value_type>(value));
  } else if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_arithmetic_v<From>) {
    return To(static_cast<float>(value));
  } else {
    return static_cast<To>(static_cast<float>(value));
  }
}

template <typename T> T element(const void* data, cudaDataType type, long long place) {
  return with(type, [&](auto of) { return converted<T>(static_cast<const decltype(of)*>(data)[place]); });
}

/// Whether the call may use all columns of a matrix that is stored with so many rows.
bool uses(LibraryCall& call, const BlasMatrix& matrix, long rows, long columns, bool writes) {
  if (matrix.is_on_host) return true;
  return with(matrix.type, [&](auto of) {
    auto* const begin = static_cast<decltype(of)*>(const_cast<void*>(matrix.data));
    const auto part = [&](long first, long count) {
      const auto length = static_cast<std::size_t>(count);
      return writes ? call.writes(begin + first, length) : call.reads(std::as_const(begin) + first, length);
    };
    if (matrix.leading == rows) return part(0, rows * columns);
    bool is_right = true;
    for (long column = 0; column < columns && is_right; ++column)
      is_right = part(column * matrix.leading, rows);
    return is_right;
  });
}

/// The elements of op(matrix), which has so many rows and columns.
template <typename T> std::vector<T> dense(const BlasMatrix& matrix, long rows, long columns) {
  std::vector<T> values(static_cast<std::size_t>(rows * columns));
  with(matrix.type, [&](auto of) {
    const auto* const begin = static_cast<const decltype(of)*>(matrix.data);
    auto to = values.begin();
    for (long column = 0; column < columns; ++column) {
      for (long row = 0; row < rows; ++row, ++to) {
        const long place = matrix.transposed == Transposed::no ? column * matrix.leading + row
                                                               : row * matrix.leading + column;
        *to = converted<T>(begin[place]);
        if constexpr (is_complex<T>) {
          if (matrix.transposed == Transposed::conjugated) *to = std::conj(*to);
        }
      }
    }
  });
  return values;
}

/// The next of many matrices.
BlasMatrix number(BlasMatrix matrix, long index) {
  if (matrix.list != nullptr) {
    matrix.data = matrix.list[index];
  } else {
    with(matrix.type, [&](auto of) {
      matrix.data = static_cast<const decltype(of)*>(matrix.data) + index * matrix.stride;
    });
  }
  return matrix;
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

template <typename T>
bool multiply_in(LibraryCall& call, long rows, long columns, long inner, const BlasScalar& alpha,
                 const BlasMatrix& a, const BlasMatrix& b, const BlasScalar& beta, const BlasMatrix& c,
                 const BlasEpilogue& epilogue, const BlasMatrix& result) {
  for (const BlasScalar& factor : {alpha, beta}) {
    if (factor.is_on_device && !with(factor.type, [&](auto of) {
          return call.reads(static_cast<const decltype(of)*>(factor.value), 1);
        }))
      return false;
  }
  const T by = element<T>(alpha.value, alpha.type, 0);
  const T of_old = element<T>(beta.value, beta.type, 0);
  const auto reads = [&](const BlasMatrix& matrix, long its_rows, long its_columns) {
    if (matrix.transposed != Transposed::no) std::swap(its_rows, its_columns);
    return uses(call, matrix, its_rows, its_columns, false);
  };
  if (!reads(a, rows, inner) || !reads(b, inner, columns) || (of_old != T{} && !reads(c, rows, columns)) ||
      !uses(call, result, rows, columns, true))
    return false;
  const std::vector<T> left = dense<T>(a, rows, inner), right = dense<T>(b, inner, columns);
  const std::vector<T> old = of_old != T{} ? dense<T>(c, rows, columns) : std::vector<T>{};
  std::vector<T> sums(static_cast<std::size_t>(rows));
  for (long column = 0; column < columns; ++column) {
    sums.assign(sums.size(), T{});
    for (long k = 0; k < inner; ++k) {
      const T factor = right[static_cast<std::size_t>(column * inner + k)];
      const T* const from = left.data() + k * rows;
      for (std::size_t row = 0; row < sums.size(); ++row)
        sums[row] += from[row] * factor;
    }
    for (long row = 0; row < rows; ++row) {
      T value = by * sums[static_cast<std::size_t>(row)];
      if (of_old != T{}) value += of_old * old[static_cast<std::size_t>(column * rows + row)];
      if (epilogue.bias != nullptr) value += element<T>(epilogue.bias, epilogue.bias_type, row);
      if constexpr (std::is_floating_point_v<T>) {
        if (epilogue.is_relu && value < 0) value = 0;
        if (epilogue.is_gelu) value = static_cast<T>(gelu(value));
      }
      with(result.type, [&](auto of) {
        static_cast<decltype(of)*>(const_cast<void*>(result.data))[column * result.leading + row] =
            converted<decltype(of)>(value);
      });
    }
  }
  return true;
}

/// In which sums are made.
template <typename Function> bool in_type_of(const BlasScalar& scalar, const Function& function) {
  return with(scalar.type, [&](auto of) {
    using T = decltype(of);
    if constexpr (is_complex<T> || std::is_same_v<T, double> || std::is_same_v<T, int>) {
      return function(of);
    } else {
      return function(float{});
    }
  });
}

}  // namespace

bool multiply_matrices(LibraryCall& call, long rows, long columns, long inner, const BlasScalar& alpha,
                       BlasMatrix a, BlasMatrix b, const BlasScalar& beta, BlasMatrix c, long count,
                       const BlasEpilogue& epilogue, const BlasMatrix* result) {
  for (const BlasMatrix& each : {a, b, c})
    if (each.list != nullptr && !call.reads(each.list, static_cast<std::size_t>(count))) return false;
  if (epilogue.bias != nullptr && !uses(call, {epilogue.bias, epilogue.bias_type, rows}, rows, 1, false))
    return false;
  return in_type_of(alpha, [&](auto of) {
    for (long i = 0; i < count; ++i) {
      const BlasMatrix target = number(result == nullptr ? c : *result, i);
      if (!multiply_in<decltype(of)>(call, rows, columns, inner, alpha, number(a, i), number(b, i), beta,
                                     number(c, i), epilogue, target))
        return false;
    }
    return true;
  });
}

bool solve_triangular(LibraryCall& call, bool is_left, bool is_lower, bool has_unit_diagonal, long rows,
                      long columns, const BlasScalar& alpha, BlasMatrix a, BlasMatrix b) {
  const long order = is_left ? rows : columns;
  // The other triangle is nobody's.
  for (long k = 0; k < order; ++k) {
    const BlasMatrix column =
        number({a.data, a.type, 1, Transposed::no, k * a.leading + (is_lower ? k : 0)}, 1);
    if (!uses(call, column, is_lower ? order - k : k + 1, 1, false)) return false;
  }
  if (!uses(call, b, rows, columns, false) || !uses(call, b, rows, columns, true)) return false;
  return in_type_of(alpha, [&](auto of) {
    using T = decltype(of);
    const T by = element<T>(alpha.value, alpha.type, 0);
    const std::vector<T> factors = dense<T>(a, order, order);
    std::vector<T> x = dense<T>(b, rows, columns);
    const bool is_below = is_lower == (a.transposed == Transposed::no);
    const bool goes_up = is_below == is_left;
    for (long other = 0; other < (is_left ? columns : rows); ++other) {
      const auto unknown = [&](long k) -> T& {
        return x[static_cast<std::size_t>(is_left ? other * rows + k : k * rows + other)];
      };
      for (long step = 0; step < order; ++step) {
        const long k = goes_up ? step : order - 1 - step;
        T value = by * unknown(k);
        for (long before = 0; before < step; ++before) {
          const long j = goes_up ? before : order - 1 - before;
          value -= factors[static_cast<std::size_t>(is_left ? j * order + k : k * order + j)] * unknown(j);
        }
        if (!has_unit_diagonal) value /= factors[static_cast<std::size_t>(k * order + k)];
        unknown(k) = value;
      }
    }
    with(b.type, [&](auto target) {
      for (long column = 0; column < columns; ++column)
        for (long row = 0; row < rows; ++row)
          static_cast<decltype(target)*>(const_cast<void*>(b.data))[column * b.leading + row] =
              converted<decltype(target)>(x[static_cast<std::size_t>(column * rows + row)]);
    });
    return true;
  });
}

}  // namespace __emulated
