/// \file
/// Compiled once for each step, beside that step's kernel.cuh: its kernels for the emulated device.

#include "kernel.cuh"

#include <cstdint>

#include "emulated/language/complex.hpp"
#include "harness/step.cuh"

namespace reduction {

const StepKernels& emulated_step_kernels() {
  static const StepKernels kernels =
      make_step_kernels<std::uint32_t, std::uint64_t, float, double, __emulated::Complex<float>,
                        __emulated::Complex<double>>();
  return kernels;
}

}  // namespace reduction
