#pragma once
/// \file
/// In place of cuBLAS (cuBLAS Library, "Using the cuBLAS API"): types, handles and copies. Arithmetic is refused when it is called.

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "emulated/language/runtime/libraries.hpp"

namespace __emulated {

/// What a handle points to: nothing needs it.
inline char library_object;
template <typename Handle> void make_library_object(Handle* handle) {
  *handle = reinterpret_cast<Handle>(&library_object);
}

}  // namespace __emulated

/// A function of any arguments that is refused when it is called, with the status that says so.
#define __EMULATED_REFUSED_AT_CALL(status, name)                                                          \
  template <typename... Arguments> auto name(Arguments&&...) {                                            \
    __emulated::say_of_library(#name, "is not modelled on the emulated device: it computes nothing");      \
    return status;                                                                                        \
  }
/// One that has nothing to do.
#define __EMULATED_DONE_AT_CALL(status, name) \
  template <typename... Arguments> auto name(Arguments&&...) { return status; }

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
using cublasHandle_t = struct cublasContext*;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  __emulated::make_library_object(handle);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline const char* cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "success" : "the operation is not supported";
}
inline const char* cublasGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_NOT_SUPPORTED";
}

/// Copies n elements, each `stride` elements behind the one before, between host and device.
inline cublasStatus_t cublasSetVector(int n, int bytes, const void* from, int from_stride, void* to,
                                      int to_stride) {
  const auto size = static_cast<std::size_t>(bytes);
  const cudaError_t copied = cudaMemcpy2D(to, size * static_cast<std::size_t>(to_stride), from,
                                          size * static_cast<std::size_t>(from_stride), size,
                                          static_cast<std::size_t>(n), cudaMemcpyDefault);
  return copied == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}
inline cublasStatus_t cublasGetVector(int n, int bytes, const void* from, int from_stride, void* to,
                                      int to_stride) {
  return cublasSetVector(n, bytes, from, from_stride, to, to_stride);
}
/// The same for a matrix, column by column.
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

// clang-format off
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasSetStream)
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasSetMathMode)
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasSetPointerMode)
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasSetAtomicsMode)
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasSetWorkspace)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSgemm)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDgemm)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSgemv)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDgemv)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSaxpy)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDaxpy)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSdot)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDdot)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSscal)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDscal)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasScopy)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDcopy)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSnrm2)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDnrm2)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSasum)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDasum)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSswap)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDswap)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSger)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDger)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSsyrk)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDsyrk)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasStrsm)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDtrsm)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSgeam)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDgeam)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSgemmBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDgemmBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSgemmStridedBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDgemmStridedBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSgetrfBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDgetrfBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSgetriBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDgetriBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSgemvStridedBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDgemvStridedBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasIsamax)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasIdamax)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasIsamin)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasIdamin)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasCgemm)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasZgemm)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasHgemm)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasHgemmStridedBatched)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasScnrm2)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDznrm2)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasGemmEx)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasSgemmEx)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasGemmBatchedEx)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasGemmStridedBatchedEx)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasDotEx)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasNrm2Ex)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasAxpyEx)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasScalEx)
// clang-format on
