/// \file
/// The sum of fast.cu, https://github.com/pranjalssh/fast.cu, from the checkout that REDUCTION_FAST_CU names. Its file is a
/// program: its main has another name here, and its fourth kernel, the fastest, is called as that calls it.

#define main fast_cu_main
#include <cassert>
#include <chrono>
#include <sum.cu>
#undef main

#include <climits>
#include <cstddef>
#include <type_traits>

#include "device/device_error.hpp"
#include "device/step_traits.hpp"

inline constexpr StepTraits traits{.chooses_launch = true, .least_capability = 9};

/// Throws DeviceError for what it has no sum of.
template <typename T> std::size_t grid_size(std::size_t n, unsigned) {
  if (!std::is_same_v<T, unsigned> || n % 4 != 0 || n > INT_MAX)
    throw reduction::DeviceError("fast.cu sums int32 only, a multiple of four of them, fewer than 2^31");
  return 1;
}

/// Queues the whole reduction on the default stream: the n elements at `in` become one sum at `out`.
template <typename T> void launch_reduce(unsigned, unsigned, const T* in, T* out, std::size_t n) {
  if constexpr (std::is_same_v<T, unsigned>) {
    const auto data = reinterpret_cast<int*>(const_cast<T*>(in));  // it is only read
    kernelDispatch(4, data, reinterpret_cast<int*>(out), nullptr, static_cast<int>(n));
  }
}

#include "harness/step.cuh"

int main(int argc, char** argv) {
  const auto step = reduction::make_cuda_step("peer_fast_cu", "fast.cu, sumKernel4");
  return reduction::run_step(step, argc, argv);
}
