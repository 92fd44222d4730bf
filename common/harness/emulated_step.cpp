/// \file
/// Compiled once for each step, beside that step's kernel.cuh: its kernels for the emulated device.

#include "kernel.cuh"

#include <complex>
#include <cstdint>

#include "device/emulated/traced.hpp"
#include "harness/step.cuh"

namespace reduction {

const StepKernels& emulated_step_kernels() {
  using emulated::Traced;
  static const StepKernels kernels =
      make_step_kernels<Traced<std::uint32_t>, Traced<std::uint64_t>, Traced<float>, Traced<double>,
                        Traced<std::complex<float>>, Traced<std::complex<double>>>();
  return kernels;
}

}  // namespace reduction
