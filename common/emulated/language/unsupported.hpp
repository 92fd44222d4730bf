#pragma once
/// \file
/// What of CUDA the emulated device does not have. To use it is an error of the compiler that names it and says what to do;
/// it is a template, so that to declare it is none. unsupported.txt lists the functions.

#include "emulated/language/runtime/errors.hpp"

namespace __emulated {

template <typename...> inline constexpr bool supports = false;

}  // namespace __emulated

enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder
};
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
struct cudaArray;
using cudaArray_t = cudaArray*;
using cudaMemPool_t = struct CUmemPoolHandle_st*;

template <typename T, int type = 1, cudaTextureReadMode mode = cudaReadModeElementType> struct texture {
  static_assert(__emulated::supports<T>,
                "texture: textures are not modelled on the emulated device: read the array itself");
};

// The compiler has to look into the function for what it returns: the refusal comes before what else is wrong with the call.
// It is an error, or a number, so that a program may check it or compute with it.
#define __EMULATED_UNSUPPORTED(name, reason)                                                  \
  template <typename Result = cudaError_t, typename... Arguments> auto name(Arguments&&...) { \
    static_assert(__emulated::supports<Result>, reason);                                      \
    return Result();                                                                          \
  }
#include "emulated/language/unsupported_functions.hpp"
#undef __EMULATED_UNSUPPORTED
