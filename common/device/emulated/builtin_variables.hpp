#pragma once
/// \file
/// CUDA's built-in variables. Each host thread has its own set, which follows the CUDA thread it is running.

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

inline thread_local constinit uint3 threadIdx{};
inline thread_local constinit uint3 blockIdx{};
inline thread_local constinit dim3 blockDim{};
inline thread_local constinit dim3 gridDim{};
inline constexpr int warpSize = 32;
