#pragma once
/// \file
/// In place of cuBLASLt: descriptions can be made, a product is refused when it is called.

#include <cublas_v2.h>

using cublasLtHandle_t = struct cublasLtContext*;
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescOpaque_t*;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutOpaque_t*;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceOpaque_t*;
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

template <typename Handle, typename... Arguments>
cublasStatus_t __emulated_make(Handle* handle, Arguments&&...) {
  __emulated::make_library_object(handle);
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) { return __emulated_make(handle); }
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t,
                                               cudaDataType_t) {
  return __emulated_make(made);
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType_t, unsigned long,
                                                 unsigned long, long) {
  return __emulated_make(made);
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  return __emulated_make(made);
}

// clang-format off
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasLtDestroy)
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasLtMatmulDescDestroy)
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasLtMatrixLayoutDestroy)
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasLtMatmulPreferenceDestroy)
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasLtMatmulDescSetAttribute)
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasLtMatrixLayoutSetAttribute)
__EMULATED_DONE_AT_CALL(CUBLAS_STATUS_SUCCESS, cublasLtMatmulPreferenceSetAttribute)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasLtMatmulAlgoGetHeuristic)
__EMULATED_REFUSED_AT_CALL(CUBLAS_STATUS_NOT_SUPPORTED, cublasLtMatmul)
// clang-format on
