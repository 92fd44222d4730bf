#pragma once
/// \file
/// What a main.cu includes, after its kernel.cuh. Thin and C++17, so that nvcc compiles a step in seconds.

#include <cstdint>

#include "harness/step.hpp"

#ifdef __CUDACC__
#include <cuda/std/complex>

#include "device/cuda_check.cuh"
#endif

/// The traits of a kernel.cuh that declares none: ::traits names the kernel's own where there are some, else these.
namespace step_defaults {
inline constexpr StepTraits traits{};
}
using namespace step_defaults;

namespace reduction {

/// Makes the table from the grid_size and launch_reduce templates of the kernel.cuh that was included before.
/// `Elements` are the types that the kernels see, in the order of ElementType.
template <typename... Elements> StepKernels make_step_kernels() {
  static_assert(sizeof...(Elements) == element_types.size(), "one type for each ElementType");
  return {StepKernel{[](std::size_t n, unsigned block) { return grid_size<Elements>(n, block); },
                     [](unsigned grid, unsigned block, const void* in, void* out, std::size_t n) {
                       launch_reduce(grid, block, static_cast<const Elements*>(in),
                                     static_cast<Elements*>(out), n);
#ifdef __CUDACC__
                       cuda_check(cudaGetLastError(), "launching a kernel");
#endif
                     },
                     ::traits, 16 / sizeof(Elements)}...};
}

/// Returns what the kernel.cuh that was included before launches on a CUDA device, or null in a build without CUDA.
/// Static: the host compiler and nvcc both read this header for one program.
static inline const StepKernels* cuda_step_kernels() {
#ifdef __CUDACC__
  // Integers as unsigned: the same bits, and a sum that wraps around is defined.
  static const StepKernels kernels =
      make_step_kernels<std::uint32_t, std::uint64_t, float, double, cuda::std::complex<float>,
                        cuda::std::complex<double>>();
  return &kernels;
#else
  return nullptr;
#endif
}

/// Makes the step whose kernel.cuh was included before, with its kernels for each device that this build has.
static inline Step make_step(const char* name, const char* title) {
  return Step{name, title, cuda_step_kernels(), &emulated_step_kernels()};
}

/// Does the same for a step that the emulated device cannot run: in a build without CUDA it only says so.
static inline Step make_cuda_step(const char* name, const char* title) {
  return Step{name, title, cuda_step_kernels(), nullptr};
}

}  // namespace reduction
