#include "emulated/run/execution_configuration.hpp"

/// \file
/// CUDA's built-in variables, as a debugger is asked for them. Others know them by a second name (scheduler.hpp): a program may
/// have variables of its own that are called so.

[[gnu::used]] static thread_local constinit __emulated::uint3 threadIdx{}, blockIdx{}, blockDim{}, gridDim{};

asm(R"(
.globl __emulated_threadIdx, __emulated_blockIdx, __emulated_blockDim, __emulated_gridDim
.set __emulated_threadIdx, _ZL9threadIdx
.set __emulated_blockIdx, _ZL8blockIdx
.set __emulated_blockDim, _ZL8blockDim
.set __emulated_gridDim, _ZL7gridDim
)");
