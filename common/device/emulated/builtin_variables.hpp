#pragma once
/// \file
/// CUDA's built-in variables, as the emulated device sets them. Each host thread has its own, which follow the CUDA thread
/// that it is running. Kernels see the same symbols as constants (cuda.hpp): for the compiler, to read a constant is no
/// access to memory.

#include "device/emulated/cuda_types.hpp"

namespace reduction::emulated::builtin {

extern thread_local constinit uint3 threadIdx asm("threadIdx");
extern thread_local constinit uint3 blockIdx asm("blockIdx");
extern thread_local constinit uint3 blockDim asm("blockDim");
extern thread_local constinit uint3 gridDim asm("gridDim");

}  // namespace reduction::emulated::builtin
