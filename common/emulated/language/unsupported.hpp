#pragma once
/// \file
/// What of CUDA the emulated device does not have. To use it is an error of the compiler that names it and says what to do;
/// it is a template, so that to declare it is none.

#include <type_traits>

namespace reduction::emulated {

template <typename...> inline constexpr bool supports = false;

}  // namespace reduction::emulated

// ---- textures and surfaces ----

enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

template <typename T, int type = 1, cudaTextureReadMode mode = cudaReadModeElementType> struct texture {
  static_assert(reduction::emulated::supports<T>,
                "textures are not modelled on the emulated device: read the array itself");
};

#define REDUCTION_UNSUPPORTED(name, reason)                                              \
  template <typename Result = void, typename... Arguments> Result name(Arguments&&...) { \
    static_assert(reduction::emulated::supports<Result>, reason);                        \
  }
#define REDUCTION_TEXTURE(name) \
  REDUCTION_UNSUPPORTED(name,   \
                        #name ": textures are not modelled on the emulated device: read the array itself")
#define REDUCTION_SURFACE(name) \
  REDUCTION_UNSUPPORTED(name,   \
                        #name ": surfaces are not modelled on the emulated device: access the array itself")
REDUCTION_TEXTURE(tex1D)
REDUCTION_TEXTURE(tex1Dfetch)
REDUCTION_TEXTURE(tex1DLayered)
REDUCTION_TEXTURE(tex2D)
REDUCTION_TEXTURE(tex2DLayered)
REDUCTION_TEXTURE(tex2DLod)
REDUCTION_TEXTURE(tex3D)
REDUCTION_TEXTURE(texCubemap)
REDUCTION_SURFACE(surf1Dread)
REDUCTION_SURFACE(surf1Dwrite)
REDUCTION_SURFACE(surf2Dread)
REDUCTION_SURFACE(surf2Dwrite)
REDUCTION_SURFACE(surf3Dread)
REDUCTION_SURFACE(surf3Dwrite)
#undef REDUCTION_TEXTURE
#undef REDUCTION_SURFACE

// ---- what kind of memory an address is ----

#define REDUCTION_KIND_OF_MEMORY(name)                                                                   \
  REDUCTION_UNSUPPORTED(name, #name                                                                      \
                        ": the emulated device does not tell a kernel what memory a pointer is to: use " \
                        "the pointer as it is")
REDUCTION_KIND_OF_MEMORY(__isShared)
REDUCTION_KIND_OF_MEMORY(__isGlobal)
REDUCTION_KIND_OF_MEMORY(__isConstant)
REDUCTION_KIND_OF_MEMORY(__isLocal)
REDUCTION_KIND_OF_MEMORY(__cvta_generic_to_shared)
REDUCTION_KIND_OF_MEMORY(__cvta_generic_to_global)
#undef REDUCTION_KIND_OF_MEMORY

// ---- time, and launches of other kinds ----

REDUCTION_UNSUPPORTED(clock64, "clock64(): the emulated device has no time: count with its counters instead")
REDUCTION_UNSUPPORTED(__globaltimer,
                      "__globaltimer(): the emulated device has no time: count with its counters instead")
REDUCTION_UNSUPPORTED(
    cudaLaunchCooperativeKernel,
    "cudaLaunchCooperativeKernel: the emulated device has no barrier of a grid: launch the kernel "
    "with <<<grid, block>>>, once for each part between two barriers")
REDUCTION_UNSUPPORTED(
    cudaLaunchKernel,
    "cudaLaunchKernel: the emulated device has no launch by pointers: write kernel<<<grid, block>>>(...)")
#define REDUCTION_GRAPH(name) \
  REDUCTION_UNSUPPORTED(name, #name ": the emulated device has no graphs: launch the kernels one by one")
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
REDUCTION_GRAPH(cudaGraphCreate)
REDUCTION_GRAPH(cudaGraphInstantiate)
REDUCTION_GRAPH(cudaGraphLaunch)
REDUCTION_GRAPH(cudaStreamBeginCapture)
REDUCTION_GRAPH(cudaStreamEndCapture)
#undef REDUCTION_GRAPH

// ---- the host's functions that are not in <cuda_runtime.h> here ----

#define REDUCTION_ARRAY(name)                                                                               \
  REDUCTION_UNSUPPORTED(name, #name                                                                         \
                        ": arrays and volumes are not modelled on the emulated device: use cudaMalloc and " \
                        "cudaMemcpy, or cudaMemcpy2D")
REDUCTION_ARRAY(cudaMallocArray)
REDUCTION_ARRAY(cudaMalloc3D)
REDUCTION_ARRAY(cudaMalloc3DArray)
REDUCTION_ARRAY(cudaMemcpy3D)
REDUCTION_ARRAY(cudaMemcpyToArray)
REDUCTION_ARRAY(cudaMemcpy2DToArray)
REDUCTION_ARRAY(cudaMemset3D)
#undef REDUCTION_ARRAY
#define REDUCTION_HOST_TEXTURE(name) \
  REDUCTION_UNSUPPORTED(name,        \
                        #name ": textures are not modelled on the emulated device: pass the array itself")
REDUCTION_HOST_TEXTURE(cudaBindTexture)
REDUCTION_HOST_TEXTURE(cudaBindTexture2D)
REDUCTION_HOST_TEXTURE(cudaBindTextureToArray)
REDUCTION_HOST_TEXTURE(cudaCreateTextureObject)
REDUCTION_HOST_TEXTURE(cudaCreateSurfaceObject)
#undef REDUCTION_HOST_TEXTURE
#define REDUCTION_PEER(name) \
  REDUCTION_UNSUPPORTED(name, #name ": there is one emulated device in a program, and so it has no peers")
REDUCTION_PEER(cudaDeviceCanAccessPeer)
REDUCTION_PEER(cudaDeviceEnablePeerAccess)
REDUCTION_PEER(cudaMemcpyPeer)
REDUCTION_PEER(cudaMemcpyPeerAsync)
REDUCTION_PEER(cudaIpcGetMemHandle)
#undef REDUCTION_PEER
REDUCTION_UNSUPPORTED(
    cudaHostRegister,
    "cudaHostRegister: the emulated device follows memory that it has allocated: use cudaMallocHost")
REDUCTION_UNSUPPORTED(
    cudaPointerGetAttributes,
    "cudaPointerGetAttributes is not modelled on the emulated device: remember how it was allocated")
REDUCTION_UNSUPPORTED(cudaStreamAddCallback,
                      "cudaStreamAddCallback is not modelled on the emulated device: use cudaLaunchHostFunc")
REDUCTION_UNSUPPORTED(
    cudaOccupancyMaxPotentialBlockSize,
    "cudaOccupancyMaxPotentialBlockSize: the emulated device knows no registers: choose the block's size")
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
REDUCTION_UNSUPPORTED(
    cudaDeviceSetLimit,
    "cudaDeviceSetLimit: the emulated device has fixed limits: 64 KiB of stack, 8 MiB of heap")
#undef REDUCTION_UNSUPPORTED
