#pragma once
/// \file
/// Stands in for CUDA's header of this name on the emulated device: the types of the driver's functions, which unsupported.txt
/// refuses but for two that say what a number means.

#include <cuda_runtime.h>

#include <cstdint>

#define __cuda_cuda_h__  // programs ask for it

/// \cond
#define __EMULATED_RESULTS(X)                \
  X(CUDA_SUCCESS, 0)                         \
  X(CUDA_ERROR_INVALID_VALUE, 1)             \
  X(CUDA_ERROR_OUT_OF_MEMORY, 2)             \
  X(CUDA_ERROR_NOT_INITIALIZED, 3)           \
  X(CUDA_ERROR_DEINITIALIZED, 4)             \
  X(CUDA_ERROR_NO_DEVICE, 100)               \
  X(CUDA_ERROR_INVALID_DEVICE, 101)          \
  X(CUDA_ERROR_INVALID_IMAGE, 200)           \
  X(CUDA_ERROR_INVALID_CONTEXT, 201)         \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)       \
  X(CUDA_ERROR_INVALID_SOURCE, 300)          \
  X(CUDA_ERROR_FILE_NOT_FOUND, 301)          \
  X(CUDA_ERROR_INVALID_HANDLE, 400)          \
  X(CUDA_ERROR_NOT_FOUND, 500)               \
  X(CUDA_ERROR_NOT_READY, 600)               \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)         \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701) \
  X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)          \
  X(CUDA_ERROR_ASSERT, 710)                  \
  X(CUDA_ERROR_LAUNCH_FAILED, 719)           \
  X(CUDA_ERROR_NOT_SUPPORTED, 801)           \
  X(CUDA_ERROR_UNKNOWN, 999)
#define __EMULATED_RESULT(name, number) name = number,
enum cudaError_enum { __EMULATED_RESULTS(__EMULATED_RESULT) };
#undef __EMULATED_RESULT
/// \endcond
using CUresult = cudaError_enum;

inline CUresult cuGetErrorName(CUresult result, const char** name) {
#define __EMULATED_RESULT(each, number) \
  if (result == (each)) return *name = #each, CUDA_SUCCESS;
  __EMULATED_RESULTS(__EMULATED_RESULT)
#undef __EMULATED_RESULT
  return CUDA_ERROR_INVALID_VALUE;
}
/// In the words of the runtime's error of this number.
inline CUresult cuGetErrorString(CUresult result, const char** text) {
  *text = cudaGetErrorString(static_cast<cudaError_t>(result));
  return CUDA_SUCCESS;
}

/// The numbers are those of the runtime's.
using CUdevice_attribute = cudaDeviceAttr;
inline constexpr CUdevice_attribute CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK{1},
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK{8}, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY{9},
    CU_DEVICE_ATTRIBUTE_WARP_SIZE{10}, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK{12},
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE{13}, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT{16},
    CU_DEVICE_ATTRIBUTE_INTEGRATED{18}, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE{20},
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE{36}, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH{37},
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE{38}, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING{41},
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR{75}, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR{76},
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN{97},
    CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED{102};

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUlibrary = struct CUlib_st*;
using CUkernel = struct CUkern_st*;
using CUarray = struct CUarray_st*;
using CUlinkState = struct CUlinkState_st*;
using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
using CUgraph = cudaGraph_t;
using CUgraphExec = cudaGraphExec_t;
using CUmemoryPool = cudaMemPool_t;
using CUtexObject = unsigned long long;
using CUsurfObject = unsigned long long;
using CUmemGenericAllocationHandle = unsigned long long;
using CUuuid = cudaUUID_t;
using cuuint32_t = std::uint32_t;
using cuuint64_t = std::uint64_t;
struct alignas(64) CUtensorMap {
  cuuint64_t opaque[16];
};
