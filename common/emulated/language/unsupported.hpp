#pragma once
/// \file
/// What of CUDA the emulated device does not have. To use it is an error of the compiler that names it and says what to do;
/// it is a template, so that to declare it is none.

#include <type_traits>

namespace __emulated {

template <typename...> inline constexpr bool supports = false;

}  // namespace __emulated

// ---- textures and surfaces ----

enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;

template <typename T, int type = 1, cudaTextureReadMode mode = cudaReadModeElementType> struct texture {
  static_assert(__emulated::supports<T>,
                "textures are not modelled on the emulated device: read the array itself");
};

#define __EMULATED_UNSUPPORTED(name, reason)                                             \
  template <typename Result = void, typename... Arguments> Result name(Arguments&&...) { \
    static_assert(__emulated::supports<Result>, reason);                                 \
  }
#define __EMULATED_TEXTURE(name) \
  __EMULATED_UNSUPPORTED(name,   \
                         #name ": textures are not modelled on the emulated device: read the array itself")
#define __EMULATED_SURFACE(name) \
  __EMULATED_UNSUPPORTED(        \
      name, #name ": surfaces are not modelled on the emulated device: access the array itself")
__EMULATED_TEXTURE(tex1D)
__EMULATED_TEXTURE(tex1Dfetch)
__EMULATED_TEXTURE(tex1DLayered)
__EMULATED_TEXTURE(tex2D)
__EMULATED_TEXTURE(tex2DLayered)
__EMULATED_TEXTURE(tex2DLod)
__EMULATED_TEXTURE(tex3D)
__EMULATED_TEXTURE(texCubemap)
__EMULATED_SURFACE(surf1Dread)
__EMULATED_SURFACE(surf1Dwrite)
__EMULATED_SURFACE(surf2Dread)
__EMULATED_SURFACE(surf2Dwrite)
__EMULATED_SURFACE(surf3Dread)
__EMULATED_SURFACE(surf3Dwrite)
#undef __EMULATED_TEXTURE
#undef __EMULATED_SURFACE

// ---- what kind of memory an address is ----

#define __EMULATED_KIND_OF_MEMORY(name)                                                                   \
  __EMULATED_UNSUPPORTED(name, #name                                                                      \
                         ": the emulated device does not tell a kernel what memory a pointer is to: use " \
                         "the pointer as it is")
__EMULATED_KIND_OF_MEMORY(__isShared)
__EMULATED_KIND_OF_MEMORY(__isGlobal)
__EMULATED_KIND_OF_MEMORY(__isConstant)
__EMULATED_KIND_OF_MEMORY(__isLocal)
__EMULATED_KIND_OF_MEMORY(__cvta_generic_to_shared)
__EMULATED_KIND_OF_MEMORY(__cvta_generic_to_global)
#undef __EMULATED_KIND_OF_MEMORY

// ---- time, and launches of other kinds ----

__EMULATED_UNSUPPORTED(clock64, "clock64(): the emulated device has no time: count with its counters instead")
__EMULATED_UNSUPPORTED(__globaltimer,
                       "__globaltimer(): the emulated device has no time: count with its counters instead")
__EMULATED_UNSUPPORTED(
    cudaLaunchCooperativeKernel,
    "cudaLaunchCooperativeKernel: the emulated device has no barrier of a grid: launch the kernel "
    "with <<<grid, block>>>, once for each part between two barriers")
__EMULATED_UNSUPPORTED(
    cudaLaunchKernel,
    "cudaLaunchKernel: the emulated device has no launch by pointers: write kernel<<<grid, block>>>(...)")
#define __EMULATED_GRAPH(name) \
  __EMULATED_UNSUPPORTED(name, #name ": the emulated device has no graphs: launch the kernels one by one")
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
__EMULATED_GRAPH(cudaGraphCreate)
__EMULATED_GRAPH(cudaGraphInstantiate)
__EMULATED_GRAPH(cudaGraphLaunch)
__EMULATED_GRAPH(cudaStreamBeginCapture)
__EMULATED_GRAPH(cudaStreamEndCapture)
#undef __EMULATED_GRAPH

// ---- the host's functions that are not in <cuda_runtime.h> here ----

#define __EMULATED_ARRAY(name)                                                                               \
  __EMULATED_UNSUPPORTED(name, #name                                                                         \
                         ": arrays and volumes are not modelled on the emulated device: use cudaMalloc and " \
                         "cudaMemcpy, or cudaMemcpy2D")
__EMULATED_ARRAY(cudaMallocArray)
__EMULATED_ARRAY(cudaMalloc3D)
__EMULATED_ARRAY(cudaMalloc3DArray)
__EMULATED_ARRAY(cudaMemcpy3D)
__EMULATED_ARRAY(cudaMemcpyToArray)
__EMULATED_ARRAY(cudaMemcpy2DToArray)
__EMULATED_ARRAY(cudaMemset3D)
#undef __EMULATED_ARRAY
#define __EMULATED_HOST_TEXTURE(name) \
  __EMULATED_UNSUPPORTED(name,        \
                         #name ": textures are not modelled on the emulated device: pass the array itself")
__EMULATED_HOST_TEXTURE(cudaBindTexture)
__EMULATED_HOST_TEXTURE(cudaBindTexture2D)
__EMULATED_HOST_TEXTURE(cudaBindTextureToArray)
__EMULATED_HOST_TEXTURE(cudaCreateTextureObject)
__EMULATED_HOST_TEXTURE(cudaCreateSurfaceObject)
#undef __EMULATED_HOST_TEXTURE
#define __EMULATED_PEER(name) \
  __EMULATED_UNSUPPORTED(name, #name ": there is one emulated device in a program, and so it has no peers")
__EMULATED_PEER(cudaDeviceCanAccessPeer)
__EMULATED_PEER(cudaDeviceEnablePeerAccess)
__EMULATED_PEER(cudaMemcpyPeer)
__EMULATED_PEER(cudaMemcpyPeerAsync)
__EMULATED_PEER(cudaIpcGetMemHandle)
#undef __EMULATED_PEER
__EMULATED_UNSUPPORTED(
    cudaHostRegister,
    "cudaHostRegister: the emulated device follows memory that it has allocated: use cudaMallocHost")
__EMULATED_UNSUPPORTED(
    cudaPointerGetAttributes,
    "cudaPointerGetAttributes is not modelled on the emulated device: remember how it was allocated")
__EMULATED_UNSUPPORTED(cudaStreamAddCallback,
                       "cudaStreamAddCallback is not modelled on the emulated device: use cudaLaunchHostFunc")
__EMULATED_UNSUPPORTED(
    cudaOccupancyMaxPotentialBlockSize,
    "cudaOccupancyMaxPotentialBlockSize: the emulated device knows no registers: choose the block's size")
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
__EMULATED_UNSUPPORTED(
    cudaDeviceSetLimit,
    "cudaDeviceSetLimit: the emulated device has fixed limits: 64 KiB of stack, 8 MiB of heap")
#undef __EMULATED_UNSUPPORTED
