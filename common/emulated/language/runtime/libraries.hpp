#pragma once
/// \file
/// What NVIDIA's libraries have in common here: a program with them compiles, their handles work, and what would compute says by
/// its name that it does not, when it is called. Programs often only compare with them.

#include "emulated/language/cuda.hpp"
#include "emulated/language/runtime/errors.hpp"

namespace __emulated {

/// Says once, on stderr, that the function is not modelled.
void refuse_library_call(const char* function);

/// What a handle points to: nothing needs it.
inline char library_object;
template <typename Handle> void make_library_object(Handle* handle) {
  *handle = reinterpret_cast<Handle>(&library_object);
}

}  // namespace __emulated

/// A function of any arguments that is refused when it is called, with the status that says so.
#define __EMULATED_REFUSED_AT_CALL(status, name)               \
  template <typename... Arguments> auto name(Arguments&&...) { \
    __emulated::refuse_library_call(#name);                    \
    return status;                                             \
  }
/// One that has nothing to do.
#define __EMULATED_DONE_AT_CALL(status, name) \
  template <typename... Arguments> auto name(Arguments&&...) { return status; }

enum cudaDataType_t {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_8I = 3,
  CUDA_C_32F = 4,
  CUDA_C_64F = 5,
  CUDA_R_8U = 8,
  CUDA_R_32I = 10,
  CUDA_R_16BF = 14,
};
using cudaDataType = cudaDataType_t;
