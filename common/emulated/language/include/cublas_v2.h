#pragma once
/// \file
/// In place of cuBLAS, computed by the host (runtime/blas.hpp). (cuBLAS Library, "Using the cuBLAS API")

#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <vector>

#include "emulated/language/runtime/blas.hpp"

#define CUBLAS_API_H_  // which helper_cuda.h of NVIDIA's samples asks for

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasFillMode_t { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 };
enum cublasDiagType_t { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 };
enum cublasSideMode_t { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3
};
enum cublasGemmAlgo_t {
  CUBLAS_GEMM_DFALT = -1,
  CUBLAS_GEMM_DEFAULT = -1,
  CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};
using cublasDataType_t = cudaDataType;
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 };

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_mode = CUBLAS_DEFAULT_MATH;
};
using cublasHandle_t = cublasContext*;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
// (No function makes a name of a name.)
#define __EMULATED_BLAS_SETTING(name, T, member)                           \
  inline cublasStatus_t cublasSet##name(cublasHandle_t handle, T value) {  \
    handle->member = value;                                                \
    return CUBLAS_STATUS_SUCCESS;                                          \
  }                                                                        \
  inline cublasStatus_t cublasGet##name(cublasHandle_t handle, T* value) { \
    *value = handle->member;                                               \
    return CUBLAS_STATUS_SUCCESS;                                          \
  }
__EMULATED_BLAS_SETTING(Stream, cudaStream_t, stream)
__EMULATED_BLAS_SETTING(PointerMode, cublasPointerMode_t, pointer_mode)
__EMULATED_BLAS_SETTING(MathMode, cublasMath_t, math_mode)
#undef __EMULATED_BLAS_SETTING
inline cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}
inline const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    default: return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}
inline const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

/// Copies a matrix between host and device, column by column.
inline cublasStatus_t cublasSetMatrix(int rows, int columns, int bytes, const void* from, int from_rows,
                                      void* to, int to_rows) {
  const auto size = static_cast<std::size_t>(bytes);
  const cudaError_t copied = cudaMemcpy2D(
      to, size * static_cast<std::size_t>(to_rows), from, size * static_cast<std::size_t>(from_rows),
      size * static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), cudaMemcpyDefault);
  return copied == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasGetMatrix(int rows, int columns, int bytes, const void* from, int from_rows,
                                      void* to, int to_rows) {
  return cublasSetMatrix(rows, columns, bytes, from, from_rows, to, to_rows);
}

/// The same for n elements, each `stride` elements behind the one before.
inline cublasStatus_t cublasSetVector(int n, int bytes, const void* from, int from_stride, void* to,
                                      int to_stride) {
  return cublasSetMatrix(1, n, bytes, from, from_stride, to, to_stride);
}
inline cublasStatus_t cublasGetVector(int n, int bytes, const void* from, int from_stride, void* to,
                                      int to_stride) {
  return cublasSetVector(n, bytes, from, from_stride, to, to_stride);
}

namespace __emulated {

template <typename T> inline constexpr cudaDataType blas_type = CUDA_R_32F;
template <> inline constexpr cudaDataType blas_type<double> = CUDA_R_64F;
template <> inline constexpr cudaDataType blas_type<half> = CUDA_R_16F;
template <> inline constexpr cudaDataType blas_type<cuComplex> = CUDA_C_32F;
template <> inline constexpr cudaDataType blas_type<cuDoubleComplex> = CUDA_C_64F;

inline Transposed transposed(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N   ? Transposed::no
         : operation == CUBLAS_OP_T ? Transposed::yes
                                    : Transposed::conjugated;
}
inline BlasScalar blas_scalar(cublasHandle_t handle, const void* value, cudaDataType type) {
  return {value, type, handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE};
}
/// A vector, as a row and as a column.
template <typename T> BlasMatrix row(const T* begin, int step) { return {begin, blas_type<T>, step}; }
template <typename T> BlasMatrix column(const T* begin, int step) {
  return {begin, blas_type<T>, step, Transposed::yes};
}
template <typename T> inline const T blas_one{1};
template <typename T> inline const T blas_zero{0};
template <> inline const float2 blas_one<float2>{1, 0};
template <> inline const float2 blas_zero<float2>{0, 0};
template <> inline const double2 blas_one<double2>{1, 0};
template <> inline const double2 blas_zero<double2>{0, 0};

inline cublasStatus_t blas_status(bool is_right) {
  return is_right ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

inline cublasStatus_t gemm(const char* name, cublasHandle_t handle, int m, int n, int k,
                           const BlasScalar& alpha, const BlasMatrix& a, const BlasMatrix& b,
                           const BlasScalar& beta, const BlasMatrix& c, int count = 1) {
  const auto fits = [](const BlasMatrix& matrix, int rows, int columns) {
    return matrix.leading >= (matrix.transposed == Transposed::no ? rows : columns) && matrix.leading > 0;
  };
  if (m < 0 || n < 0 || k < 0 || !fits(a, m, k) || !fits(b, k, n) || !fits(c, m, n))
    return CUBLAS_STATUS_INVALID_VALUE;
  LibraryCall call{name, handle->stream};
  return blas_status(multiply_matrices(call, m, n, k, alpha, a, b, beta, c, count));
}

/// y = alpha * x + beta * y
template <typename T>
cublasStatus_t combine(const char* name, cublasHandle_t handle, int n, const BlasScalar& alpha,
                       const BlasMatrix& x, const BlasScalar& beta, T* y, int increment) {
  const BlasMatrix one{&blas_one<T>, blas_type<T>, 1, Transposed::no, 0, nullptr, true};
  LibraryCall call{name, handle->stream};
  return blas_status(
      multiply_matrices(call, 1, n, x.data == nullptr ? 0 : 1, alpha, one, x, beta, row(y, increment)));
}

template <typename T>
bool dot(LibraryCall& call, cublasHandle_t handle, int n, const T* x, int x_step, const T* y, int y_step,
         T* result) {
  const bool is_on_host = handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
  return multiply_matrices(call, 1, 1, n, {&blas_one<T>, blas_type<T>, false}, row(y, y_step),
                           column(x, x_step), {&blas_zero<T>, blas_type<T>, false},
                           {result, blas_type<T>, 1, Transposed::no, 0, nullptr, is_on_host});
}

/// The elements of a vector, if the device has them.
template <typename T> std::vector<T> elements(LibraryCall& call, int n, const T* x, int step) {
  std::vector<T> values;
  for (int i = 0; i < n && call.reads(x + static_cast<std::ptrdiff_t>(i) * step, 1); ++i)
    values.push_back(x[static_cast<std::ptrdiff_t>(i) * step]);
  return values;
}
template <typename T>
cublasStatus_t give(LibraryCall& call, cublasHandle_t handle, T* result, const T& value) {
  const bool is_right =
      call.is_right() && (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST || call.writes(result, 1));
  if (is_right) *result = value;
  return blas_status(is_right);
}
template <typename T, typename Better>
cublasStatus_t best_place(const char* name, cublasHandle_t handle, int n, const T* x, int step, int* result,
                          const Better& better) {
  LibraryCall call{name, handle->stream};
  const std::vector<T> values = elements(call, n, x, step);
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (better(std::abs(values[i]), std::abs(values[best]))) best = i;
  return give(call, handle, result, values.empty() ? 0 : static_cast<int>(best) + 1);
}

/// What the sums of a product with these elements are made in.
inline cudaDataType scalar_type(cublasComputeType_t type, cudaDataType of_elements) {
  const bool is_complex = of_elements == CUDA_C_32F || of_elements == CUDA_C_64F;
  switch (type) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F: return is_complex ? CUDA_C_64F : CUDA_R_64F;
    case CUBLAS_COMPUTE_32I: return CUDA_R_32I;
    default: return is_complex ? CUDA_C_32F : CUDA_R_32F;
  }
}
inline cudaDataType scalar_type(cudaDataType type, cudaDataType) { return type; }

}  // namespace __emulated

// ---- what each type of number has ----

#define __EMULATED_BLAS(S, T)                                                                               \
  inline cublasStatus_t cublas##S##gemm(                                                                    \
      cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,           \
      const T* alpha, const T* a, int lda, const T* b, int ldb, const T* beta, T* c, int ldc) {             \
    using namespace __emulated;                                                                             \
    constexpr cudaDataType type = blas_type<T>;                                                             \
    return gemm(__func__, handle, m, n, k, blas_scalar(handle, alpha, type),                                \
                {a, type, lda, transposed(of_a)}, {b, type, ldb, transposed(of_b)},                         \
                blas_scalar(handle, beta, type), {c, type, ldc});                                           \
  }                                                                                                         \
  inline cublasStatus_t cublas##S##gemmStridedBatched(                                                      \
      cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m, int n, int k,           \
      const T* alpha, const T* a, int lda, long long stride_a, const T* b, int ldb, long long stride_b,     \
      const T* beta, T* c, int ldc, long long stride_c, int count) {                                        \
    using namespace __emulated;                                                                             \
    constexpr cudaDataType type = blas_type<T>;                                                             \
    return gemm(__func__, handle, m, n, k, blas_scalar(handle, alpha, type),                                \
                {a, type, lda, transposed(of_a), stride_a}, {b, type, ldb, transposed(of_b), stride_b},     \
                blas_scalar(handle, beta, type), {c, type, ldc, Transposed::no, stride_c}, count);          \
  }                                                                                                         \
  inline cublasStatus_t cublas##S##gemmBatched(cublasHandle_t handle, cublasOperation_t of_a,               \
                                               cublasOperation_t of_b, int m, int n, int k, const T* alpha, \
                                               const T* const a[], int lda, const T* const b[], int ldb,    \
                                               const T* beta, T* const c[], int ldc, int count) {           \
    using namespace __emulated;                                                                             \
    constexpr cudaDataType type = blas_type<T>;                                                             \
    const auto list = [](const auto* pointers) { return reinterpret_cast<const void* const*>(pointers); };  \
    return gemm(__func__, handle, m, n, k, blas_scalar(handle, alpha, type),                                \
                {nullptr, type, lda, transposed(of_a), 0, list(a)},                                         \
                {nullptr, type, ldb, transposed(of_b), 0, list(b)}, blas_scalar(handle, beta, type),        \
                {nullptr, type, ldc, Transposed::no, 0, list(c)}, count);                                   \
  }
#define __EMULATED_BLAS_OF_VECTORS(S, T)                                                                   \
  inline cublasStatus_t cublas##S##gemv(cublasHandle_t handle, cublasOperation_t of_a, int m, int n,       \
                                        const T* alpha, const T* a, int lda, const T* x, int x_step,       \
                                        const T* beta, T* y, int y_step) {                                 \
    using namespace __emulated;                                                                            \
    constexpr cudaDataType type = blas_type<T>;                                                            \
    if (of_a == CUBLAS_OP_C && (type == CUDA_C_32F || type == CUDA_C_64F))                                 \
      return CUBLAS_STATUS_NOT_SUPPORTED;                                                                  \
    const bool is_plain = of_a == CUBLAS_OP_N;                                                             \
    return gemm(__func__, handle, 1, is_plain ? m : n, is_plain ? n : m, blas_scalar(handle, alpha, type), \
                row(x, x_step), {a, type, lda, is_plain ? Transposed::yes : Transposed::no},               \
                blas_scalar(handle, beta, type), row(y, y_step));                                          \
  }                                                                                                        \
  inline cublasStatus_t cublas##S##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x,          \
                                        int x_step, T* y, int y_step) {                                    \
    using namespace __emulated;                                                                            \
    return combine(__func__, handle, n, blas_scalar(handle, alpha, blas_type<T>), row(x, x_step),          \
                   {&blas_one<T>, blas_type<T>, false}, y, y_step);                                        \
  }                                                                                                        \
  inline cublasStatus_t cublas##S##copy(cublasHandle_t handle, int n, const T* x, int x_step, T* y,        \
                                        int y_step) {                                                      \
    using namespace __emulated;                                                                            \
    return combine(__func__, handle, n, {&blas_one<T>, blas_type<T>, false}, row(x, x_step),               \
                   {&blas_zero<T>, blas_type<T>, false}, y, y_step);                                       \
  }                                                                                                        \
  inline cublasStatus_t cublas##S##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int step) {    \
    using namespace __emulated;                                                                            \
    return combine(__func__, handle, n, {&blas_zero<T>, blas_type<T>, false},                              \
                   row(static_cast<const T*>(nullptr), 1), blas_scalar(handle, alpha, blas_type<T>), x,    \
                   step);                                                                                  \
  }
#define __EMULATED_BLAS_OF_REALS(S, s, T)                                                                    \
  inline cublasStatus_t cublas##S##dot(cublasHandle_t handle, int n, const T* x, int x_step, const T* y,     \
                                       int y_step, T* result) {                                              \
    __emulated::LibraryCall call{__func__, handle->stream};                                                  \
    return __emulated::blas_status(__emulated::dot(call, handle, n, x, x_step, y, y_step, result));          \
  }                                                                                                          \
  inline cublasStatus_t cublas##S##nrm2(cublasHandle_t handle, int n, const T* x, int step, T* result) {     \
    __emulated::LibraryCall call{__func__, handle->stream};                                                  \
    const bool is_right = __emulated::dot(call, handle, n, x, step, x, step, result);                        \
    if (is_right) *result = std::sqrt(*result);                                                              \
    return __emulated::blas_status(is_right);                                                                \
  }                                                                                                          \
  inline cublasStatus_t cublas##S##asum(cublasHandle_t handle, int n, const T* x, int step, T* result) {     \
    __emulated::LibraryCall call{__func__, handle->stream};                                                  \
    T sum = 0;                                                                                               \
    for (const T value : __emulated::elements(call, n, x, step))                                             \
      sum += std::abs(value);                                                                                \
    return __emulated::give(call, handle, result, sum);                                                      \
  }                                                                                                          \
  inline cublasStatus_t cublasI##s##amax(cublasHandle_t handle, int n, const T* x, int step, int* result) {  \
    return __emulated::best_place(__func__, handle, n, x, step, result, [](T a, T b) { return a > b; });     \
  }                                                                                                          \
  inline cublasStatus_t cublasI##s##amin(cublasHandle_t handle, int n, const T* x, int step, int* result) {  \
    return __emulated::best_place(__func__, handle, n, x, step, result, [](T a, T b) { return a < b; });     \
  }                                                                                                          \
  inline cublasStatus_t cublas##S##rot(cublasHandle_t handle, int n, T* x, int x_step, T* y, int y_step,     \
                                       const T* cosine, const T* sine) {                                     \
    __emulated::LibraryCall call{__func__, handle->stream};                                                  \
    const std::vector<T> old_x = __emulated::elements(call, n, x, x_step);                                   \
    const std::vector<T> old_y = __emulated::elements(call, n, y, y_step);                                   \
    for (int i = 0; i < n && call.is_right(); ++i) {                                                         \
      const auto at = static_cast<std::size_t>(i);                                                           \
      call.writes(x + i * x_step, 1);                                                                        \
      call.writes(y + i * y_step, 1);                                                                        \
      x[i * x_step] = *cosine * old_x[at] + *sine * old_y[at];                                               \
      y[i * y_step] = *cosine * old_y[at] - *sine * old_x[at];                                               \
    }                                                                                                        \
    return __emulated::blas_status(call.is_right());                                                         \
  }                                                                                                          \
  inline cublasStatus_t cublas##S##swap(cublasHandle_t handle, int n, T* x, int x_step, T* y, int y_step) {  \
    __emulated::LibraryCall call{__func__, handle->stream};                                                  \
    const std::vector<T> old_x = __emulated::elements(call, n, x, x_step);                                   \
    const std::vector<T> old_y = __emulated::elements(call, n, y, y_step);                                   \
    for (int i = 0; i < n && call.is_right(); ++i) {                                                         \
      x[i * x_step] = old_y[static_cast<std::size_t>(i)];                                                    \
      y[i * y_step] = old_x[static_cast<std::size_t>(i)];                                                    \
    }                                                                                                        \
    return __emulated::blas_status(call.is_right());                                                         \
  }                                                                                                          \
  inline cublasStatus_t cublas##S##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x,      \
                                       int x_step, const T* y, int y_step, T* a, int lda) {                  \
    using namespace __emulated;                                                                              \
    constexpr cudaDataType type = blas_type<T>;                                                              \
    return gemm(__func__, handle, m, n, 1, blas_scalar(handle, alpha, type), column(x, x_step),              \
                row(y, y_step), {&blas_one<T>, type, false}, {a, type, lda});                                \
  }                                                                                                          \
  inline cublasStatus_t cublas##S##geam(cublasHandle_t handle, cublasOperation_t of_a,                       \
                                        cublasOperation_t of_b, int m, int n, const T* alpha, const T* a,    \
                                        int lda, const T* beta, const T* b, int ldb, T* c, int ldc) {        \
    using namespace __emulated;                                                                              \
    constexpr cudaDataType type = blas_type<T>;                                                              \
    const BlasMatrix one{&blas_one<T>, type, 1, Transposed::no, 0, nullptr, true};                           \
    const BlasScalar none{&blas_zero<T>, type, false}, all{&blas_one<T>, type, false};                       \
    LibraryCall call{__func__, handle->stream};                                                              \
    bool is_right = true;                                                                                    \
    const auto add = [&](cublasOperation_t of, const T* matrix, int ld, const T* by,                         \
                         const BlasScalar& old) {                                                            \
      for (std::ptrdiff_t j = 0; j < n && is_right; ++j) {                                                   \
        const BlasMatrix from =                                                                              \
            of == CUBLAS_OP_N ? BlasMatrix{matrix + j * ld, type, m} : column(matrix + j, ld);               \
        is_right = multiply_matrices(call, m, 1, 1, blas_scalar(handle, by, type), from, one, old,           \
                                     {c + j * ldc, type, m});                                                \
      }                                                                                                      \
    };                                                                                                       \
    const bool is_b_first = b == c;                                                                          \
    if (is_b_first) add(of_b, b, ldb, beta, none);                                                           \
    add(of_a, a, lda, alpha, is_b_first ? all : none);                                                       \
    if (!is_b_first && b != nullptr) add(of_b, b, ldb, beta, all);                                           \
    return blas_status(is_right);                                                                            \
  }                                                                                                          \
  inline cublasStatus_t cublas##S##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, \
                                        cublasOperation_t of_a, cublasDiagType_t diagonal, int m, int n,     \
                                        const T* alpha, const T* a, int lda, T* b, int ldb) {                \
    using namespace __emulated;                                                                              \
    LibraryCall call{__func__, handle->stream};                                                              \
    return blas_status(solve_triangular(call, side == CUBLAS_SIDE_LEFT, fill == CUBLAS_FILL_MODE_LOWER,      \
                                        diagonal == CUBLAS_DIAG_UNIT, m, n,                                  \
                                        blas_scalar(handle, alpha, blas_type<T>),                            \
                                        {a, blas_type<T>, lda, transposed(of_a)}, {b, blas_type<T>, ldb}));  \
  }
__EMULATED_BLAS(S, float)
__EMULATED_BLAS(D, double)
__EMULATED_BLAS(C, cuComplex)
__EMULATED_BLAS(Z, cuDoubleComplex)
__EMULATED_BLAS(H, half)
__EMULATED_BLAS_OF_VECTORS(S, float)
__EMULATED_BLAS_OF_VECTORS(D, double)
__EMULATED_BLAS_OF_VECTORS(C, cuComplex)
__EMULATED_BLAS_OF_VECTORS(Z, cuDoubleComplex)
__EMULATED_BLAS_OF_REALS(S, s, float)
__EMULATED_BLAS_OF_REALS(D, d, double)
#undef __EMULATED_BLAS
#undef __EMULATED_BLAS_OF_VECTORS
#undef __EMULATED_BLAS_OF_REALS

// ---- products of any types ----

template <typename ComputeType>
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t of_a,
                                          cublasOperation_t of_b, int m, int n, int k, const void* alpha,
                                          const void* a, cudaDataType type_a, int lda, long long stride_a,
                                          const void* b, cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long stride_c, int count, ComputeType compute,
                                          cublasGemmAlgo_t) {
  using namespace __emulated;
  const cudaDataType type = scalar_type(compute, type_c);
  return gemm(__func__, handle, m, n, k, blas_scalar(handle, alpha, type),
              {a, type_a, lda, transposed(of_a), stride_a}, {b, type_b, ldb, transposed(of_b), stride_b},
              blas_scalar(handle, beta, type), {c, type_c, ldc, Transposed::no, stride_c}, count);
}
template <typename ComputeType>
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b, int m,
                            int n, int k, const void* alpha, const void* a, cudaDataType type_a, int lda,
                            const void* b, cudaDataType type_b, int ldb, const void* beta, void* c,
                            cudaDataType type_c, int ldc, ComputeType compute, cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, of_a, of_b, m, n, k, alpha, a, type_a, lda, 0, b, type_b, ldb, 0,
                                    beta, c, type_c, ldc, 0, 1, compute, algorithm);
}
inline cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t of_a, cublasOperation_t of_b,
                                    int m, int n, int k, const float* alpha, const void* a,
                                    cudaDataType type_a, int lda, const void* b, cudaDataType type_b, int ldb,
                                    const float* beta, void* c, cudaDataType type_c, int ldc) {
  return cublasGemmEx(handle, of_a, of_b, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta, c, type_c,
                      ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}
