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
REDUCTION_UNSUPPORTED(cudaGraphLaunch,
                      "cudaGraphLaunch: the emulated device has no graphs: launch the kernels one by one")
#undef REDUCTION_UNSUPPORTED
