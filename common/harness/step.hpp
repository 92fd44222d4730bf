#pragma once
/// \file
/// A step as the compiled harness sees it: names, and two function pointers per element type and kind of device.

#include "device/step_traits.hpp"
#include "harness/element_type.hpp"

namespace reduction {

/// A step's two functions for one element type, and its traits.
struct StepKernel {
  /// Returns the number of partial sums that one pass over n >= 1 elements leaves.
  std::size_t (*grid_size)(std::size_t n, unsigned block);
  /// Queues one pass: the n elements at `in` become `grid` partial sums at `out`. Throws DeviceError if the device
  /// refuses the launch.
  void (*launch)(unsigned grid, unsigned block, const void* in, void* out, std::size_t n);
  StepTraits traits{};
  /// Elements in a vector of 16 bytes.
  std::size_t vector_width = 1;
};

/// A step compiled for one kind of device, indexed by ElementType.
using StepKernels = std::array<StepKernel, element_types.size()>;

/// Returns the step's kernels for the emulated device, compiled by the host compiler from the same kernel.cuh as the
/// CUDA ones (emulated_step.cpp).
const StepKernels& emulated_step_kernels();

/// A step as its main.cu names it, with its kernels for each device.
struct Step {
  std::string_view name;        ///< the folder's: 03_sequential
  std::string_view title;       ///< for a reader: sequential addressing
  const StepKernels* cuda;      ///< null in a build without CUDA
  const StepKernels* emulated;  ///< null for a step that the emulated device cannot run
};

/// Does all that a step's main does, from the command line to the report. Returns the exit code (exit_code.hpp).
int run_step(const Step& step, int argc, char** argv);

}  // namespace reduction
