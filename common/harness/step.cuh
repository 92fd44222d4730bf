#pragma once
/// \file
/// What a main.cu includes, after its kernel.cuh. Thin and C++17, so that nvcc compiles a step in seconds.

#include <cstdint>

#include "harness/make_step_kernels.hpp"
#include "harness/run_step.hpp"

#ifdef __CUDACC__
#include <cuda/std/complex>
#endif

namespace reduction {

#ifdef __CUDACC__
/// What the kernel.cuh that was included before launches on a CUDA device.
inline const StepKernels& cuda_step_kernels() {
  // Integers as unsigned: the same bits, and a sum that wraps around is defined.
  static const StepKernels kernels =
      make_step_kernels<std::uint32_t, std::uint64_t, float, double, cuda::std::complex<float>,
                        cuda::std::complex<double>>();
  return kernels;
}

/// Runs a library's reduction as a step is run, on a CUDA device only.
inline int run_library(const char* name, const char* title, int argc, char** argv) {
  return run_step(Step{name, title, &cuda_step_kernels(), nullptr, true}, argc, argv);
}
#endif

/// Runs a step that no other device can, on a CUDA device of that major compute capability or higher. In a build without
/// CUDA it only says so.
inline int run_cuda_step(const char* name, const char* title, int least_capability, int argc, char** argv) {
#ifdef __CUDACC__
  return run_step(Step{name, title, &cuda_step_kernels(), nullptr, false, least_capability}, argc, argv);
#else
  return run_step(Step{name, title, nullptr, nullptr, false, least_capability}, argc, argv);
#endif
}

/// The step whose kernel.cuh was included before, with its kernels for each device that this build has.
inline Step make_step(const char* name, const char* title) {
#ifdef __CUDACC__
  return Step{name, title, &cuda_step_kernels(), &emulated_step_kernels()};
#else
  return Step{name, title, nullptr, &emulated_step_kernels()};
#endif
}

/// Runs the step whose kernel.cuh was included before on the device that the command line chooses.
inline int run_step(const char* name, const char* title, int argc, char** argv) {
  return run_step(make_step(name, title), argc, argv);
}

}  // namespace reduction
