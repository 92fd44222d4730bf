#pragma once
/// \file
/// What a kernel.cuh may use: CUDA C++, in nvcc's own form or in the emulated device's, and the helpers below.

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "device/step_traits.hpp"

#ifdef __CUDACC__
#include "device/cuda_dialect.cuh"
#else
#include "device/emulated_dialect.hpp"
#endif

using std::size_t;

/// How many parts of `part` elements it takes to hold n elements.
constexpr size_t ceil_divide(size_t n, size_t part) { return n / part + (n % part != 0 ? 1 : 0); }
