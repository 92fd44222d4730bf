#pragma once
/// \file
/// What cuBLAS and cuBLASLt compute, by columns. (BLAS Technical Forum Standard)

#include "emulated/language/runtime/libraries.hpp"

namespace __emulated {

enum class Transposed { no, yes, conjugated };

/// A matrix, or many of them: each `stride` elements behind the one before, or where a list of the device's says.
struct BlasMatrix {
  const void* data;
  cudaDataType type;
  long leading;  ///< from one column to the next
  Transposed transposed = Transposed::no;
  long long stride = 0;
  const void* const* list = nullptr;
  bool is_on_host = false;
};

/// A factor of a call.
struct BlasScalar {
  const void* value;
  cudaDataType type;
  bool is_on_device;
};

/// What is done to a product at last: a bias for each row is added, and then a function applied.
struct BlasEpilogue {
  const void* bias = nullptr;
  cudaDataType bias_type = CUDA_R_32F;
  bool is_relu = false, is_gelu = false;
};

/// c = alpha * a * b + beta * c, of rows x inner and inner x columns, `count` times. It is computed in the scalars' type, and
/// returns whether all of it is in the device's memory. \param result  where it is not c that takes it.
bool multiply_matrices(LibraryCall& call, long rows, long columns, long inner, const BlasScalar& alpha,
                       BlasMatrix a, BlasMatrix b, const BlasScalar& beta, BlasMatrix c, long count = 1,
                       const BlasEpilogue& epilogue = {}, const BlasMatrix* result = nullptr);

/// Solves op(a) * x = alpha * b, or x * op(a) = alpha * b, for x in place of b, of rows x columns.
bool solve_triangular(LibraryCall& call, bool is_left, bool is_lower, bool has_unit_diagonal, long rows,
                      long columns, const BlasScalar& alpha, BlasMatrix a, BlasMatrix b);

}  // namespace __emulated
