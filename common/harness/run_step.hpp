#pragma once

#include <string_view>

#include "harness/step_kernels.hpp"

namespace reduction {

/// A step as its main.cu names it, with its kernels for each device.
struct Step {
  std::string_view name;        ///< the folder's: 03_sequential
  std::string_view title;       ///< for a reader: sequential addressing
  const StepKernels* cuda;      ///< null in a build without CUDA
  const StepKernels* emulated;  ///< null for a library, and for a step that the emulated device cannot run
  bool is_library =
      false;  ///< no step but a peer: it chooses grid and block itself, and adds in an order of its own
  int least_capability = 0;  ///< the major compute capability of the oldest GPU that can run it; 0: any
};

/// The whole of a step's main: options, device, input, launches, timing, verification, report. Returns the exit code
/// (exit_code.hpp).
int run_step(const Step& step, int argc, char** argv);

}  // namespace reduction
