#pragma once
/// \file
/// In place of cuBLASLt, computed by the host. (cuBLAS Library, "Using the cuBLASLt API")

#include <cublas_v2.h>

#include <cstring>

struct cublasLtMatmulAlgo_t {
  unsigned long long data[8];
};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_COMPUTE_TYPE = 0,
  CUBLASLT_MATMUL_DESC_SCALE_TYPE = 1,
  CUBLASLT_MATMUL_DESC_POINTER_MODE = 2,
  CUBLASLT_MATMUL_DESC_TRANSA = 3,
  CUBLASLT_MATMUL_DESC_TRANSB = 4,
  CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER = 11,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD = 12,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE = 26
};
enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_TYPE = 0,
  CUBLASLT_MATRIX_LAYOUT_ORDER = 1,
  CUBLASLT_MATRIX_LAYOUT_ROWS = 2,
  CUBLASLT_MATRIX_LAYOUT_COLS = 3,
  CUBLASLT_MATRIX_LAYOUT_LD = 4,
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT = 5,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6
};
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 };
enum cublasLtOrder_t { CUBLASLT_ORDER_COL = 0, CUBLASLT_ORDER_ROW = 1 };
enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 2 | 4,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 32 | 4,
  CUBLASLT_EPILOGUE_GELU_AUX = 32 | 128,
  CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 32 | 128 | 4,
  CUBLASLT_EPILOGUE_DGELU = 64 | 128,
  CUBLASLT_EPILOGUE_DGELU_BGRAD = 64 | 128 | 16,
  CUBLASLT_EPILOGUE_BGRADA = 256,
  CUBLASLT_EPILOGUE_BGRADB = 512
};

/// What a description knows, by its attributes' numbers.
struct cublasLtMatmulDescOpaque_t {
  cudaDataType scale_type;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasOperation_t of_a = CUBLAS_OP_N, of_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  cudaDataType bias_type = static_cast<cudaDataType>(-1);  ///< the result's
};
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType type;
  unsigned long rows, columns;
  long leading;
  int count = 1;
  long long stride = 0;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
};
using cublasLtHandle_t = struct cublasLtContext*;
using cublasLtMatmulDesc_t = cublasLtMatmulDescOpaque_t*;
using cublasLtMatrixLayout_t = cublasLtMatrixLayoutOpaque_t*;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque_t*;

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  static char none;
  *handle = reinterpret_cast<cublasLtHandle_t>(&none);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                           cublasLtMatmulPreferenceAttributes_t, const void*,
                                                           size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t,
                                               cudaDataType scale_type) {
  *made = new cublasLtMatmulDescOpaque_t{scale_type};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete description;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                                 unsigned long rows, unsigned long columns, long leading) {
  *made = new cublasLtMatrixLayoutOpaque_t{type, rows, columns, leading};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t of,
                                                     cublasLtMatmulDescAttributes_t attribute,
                                                     const void* value, size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: std::memcpy(&of->scale_type, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: std::memcpy(&of->pointer_mode, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_TRANSA: std::memcpy(&of->of_a, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_TRANSB: std::memcpy(&of->of_b, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE: std::memcpy(&of->epilogue, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: std::memcpy(&of->bias, value, bytes); break;
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: std::memcpy(&of->bias_type, value, bytes); break;
    default: break;  // the other epilogues' are refused with them
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t of,
                                                       cublasLtMatrixLayoutAttribute_t attribute,
                                                       const void* value, size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: std::memcpy(&of->type, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_ORDER: std::memcpy(&of->order, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_ROWS: std::memcpy(&of->rows, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_COLS: std::memcpy(&of->columns, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_LD: std::memcpy(&of->leading, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: std::memcpy(&of->count, value, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: std::memcpy(&of->stride, value, bytes); break;
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatmulPreference_t, int asked,
                                                     cublasLtMatmulHeuristicResult_t* results, int* found) {
  *found = asked > 0 ? 1 : 0;
  if (asked > 0) *results = {};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t of, const void* alpha,
                                     const void* a, cublasLtMatrixLayout_t of_a, const void* b,
                                     cublasLtMatrixLayout_t of_b, const void* beta, const void* c,
                                     cublasLtMatrixLayout_t of_c, void* d, cublasLtMatrixLayout_t of_d,
                                     const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t stream) {
  using namespace __emulated;
  const int known = CUBLASLT_EPILOGUE_DEFAULT | CUBLASLT_EPILOGUE_RELU_BIAS | CUBLASLT_EPILOGUE_GELU_BIAS;
  if ((of->epilogue & ~known) != 0 || of_d->order != CUBLASLT_ORDER_COL) {
    say_of_library("cublasLtMatmul", "of the epilogues bias, ReLU and GELU are modelled, and columns");
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  // A matrix by rows is the transposed one by columns.
  const auto matrix = [](const void* data, cublasLtMatrixLayout_t layout, cublasOperation_t operation) {
    const bool by_rows = layout->order == CUBLASLT_ORDER_ROW;
    const Transposed as =
        by_rows ? (operation == CUBLAS_OP_N ? Transposed::yes : Transposed::no) : transposed(operation);
    return BlasMatrix{data, layout->type, layout->leading, as, layout->stride};
  };
  const bool has_bias = (of->epilogue & CUBLASLT_EPILOGUE_BIAS) != 0;
  const BlasEpilogue epilogue{
      has_bias ? of->bias : nullptr, static_cast<int>(of->bias_type) < 0 ? of_d->type : of->bias_type,
      (of->epilogue & CUBLASLT_EPILOGUE_RELU) != 0, (of->epilogue & CUBLASLT_EPILOGUE_GELU) != 0};
  const bool is_on_device = of->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  const BlasMatrix result = matrix(d, of_d, CUBLAS_OP_N);
  LibraryCall call{__func__, stream};
  return blas_status(multiply_matrices(
      call, static_cast<long>(of_d->rows), static_cast<long>(of_d->columns),
      static_cast<long>(of->of_a == CUBLAS_OP_N ? of_a->columns : of_a->rows),
      {alpha, of->scale_type, is_on_device}, matrix(a, of_a, of->of_a), matrix(b, of_b, of->of_b),
      {beta, of->scale_type, is_on_device}, matrix(c, of_c, CUBLAS_OP_N), of_d->count, epilogue, &result));
}
